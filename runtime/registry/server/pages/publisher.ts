/** `/publisher`: what was found at a domain and why, which agents may sell what, and what changed. */
import type { CrawlState, PropertiesPage, PublisherChanges, PublisherLookup, ToldProperty } from "../../types.js";
import { domainForm } from "./home.js";
import { type Html, html, type Part } from "./html.js";
import { choice, facts, faultsTable, grouped, link, some, sources, table, textField, when } from "./parts.js";

/** Agents of a brand file shown. */
const BRAND_AGENTS = 200;

export interface PublisherView {
  readonly found: PublisherLookup;
  /** What the last crawl left out of the file, where there was one. */
  readonly state: CrawlState | undefined;
  readonly properties: PropertiesPage;
  readonly changes: PublisherChanges;
  /** Filters and places, as they were asked. */
  readonly asked: PublisherAsked;
  /** Kinds of property of the protocol. */
  readonly types: readonly string[];
  /** This server fetches files. */
  readonly crawls: boolean;
  /** A crawl of it is waiting or under way. */
  readonly pending: boolean;
}

export interface PublisherAsked {
  readonly text: string;
  readonly type: string;
  readonly cursor: string;
  readonly agent: string;
  readonly agentsCursor: string;
}

/** What was found, in a sentence. */
function verdict({ adagents_valid, files, discovery_method, manager_domain, hosting, domain }: PublisherLookup): Html {
  const expected = html`<code>${hosting.expected_url}</code>`;
  const failed = hosting.last_http_status !== null && hosting.last_http_status >= 400;
  if (files?.adagents_json.status === "absent")
    return html`<p><span class="bad">No file.</span> ${expected} answered ${hosting.last_http_status}: the publisher has taken it away, or never had one. What an earlier file said ends seven days after it was last seen.</p>`;
  if (adagents_valid === true) {
    const note = failed ? ` The last fetch answered ${hosting.last_http_status}; this is the copy from before.` : "";
    switch (discovery_method) {
      case "authoritative_location":
        return html`<p><span class="good">Found.</span> ${expected} points to <code>${hosting.resolved_url}</code>, which is valid.${note}</p>`;
      case "ads_txt_managerdomain":
        return html`<p><span class="good">Found.</span> ${domain} has no file of its own; its ads.txt names the manager <strong>${manager_domain}</strong>, whose file names ${domain}.${note}</p>`;
      case "direct":
      case null:
        return html`<p><span class="good">Found.</span> ${hosting.mode === "aao_hosted" ? html`This registry hosts the file at <code>${hosting.hosted_url}</code>.` : html`${expected} is valid.`}${note}</p>`;
    }
  }
  if (adagents_valid === false)
    return html`<p><span class="bad">Not usable.</span> Something is at ${expected}, but it is not a valid file${failed ? ` (status ${hosting.last_http_status})` : ""}.</p>`;
  if (files?.adagents_json.status === "checking")
    return html`<p>Nobody asked for ${domain} before. It is being fetched now: look again in a few seconds.</p>`;
  if (hosting.last_http_status !== null)
    return html`<p>No file so far: ${expected} answered ${hosting.last_http_status}.</p>`;
  return html`<p>Nothing is known of ${domain} yet. Its file belongs at ${expected}.</p>`;
}

const modes: Readonly<Record<PublisherLookup["hosting"]["mode"], string>> = {
  self: "the publisher's own origin",
  self_invalid: "the publisher's own origin, not valid",
  aao_hosted: "this registry",
  self_redirected: "elsewhere, where the origin points to",
  none: "not known",
};

/** The page with other filters or another place; what is not named stays. */
function hereWith(domain: string, asked: PublisherAsked, change: Partial<PublisherAsked>): string {
  const { text, type, cursor, agent, agentsCursor } = { ...asked, ...change };
  return link("/publisher", { domain, q: text, type, cursor, agent, agents_cursor: agentsCursor });
}

function shareOf(agent: PublisherLookup["authorized_agents"][number]): Part {
  if (agent.source === "agent_claim") return "nothing the publisher confirms";
  if (agent.publisher_wide) return "everything";
  return `${grouped(agent.properties_authorized ?? 0)} of ${grouped(agent.properties_total ?? 0)} properties`;
}

/** What a form must carry so that the other list stays where it is. */
const hidden = (fields: Readonly<Record<string, string>>): Part =>
  Object.entries(fields).map(([name, value]) =>
    value === "" ? "" : html`<input type="hidden" name="${name}" value="${value}">`,
  );

function agentsOf({ found, asked }: PublisherView): Html {
  const { authorized_agents: agents, domain } = found;
  const total = found.agents_total ?? agents.length;
  const filter =
    total > agents.length || asked.agent !== ""
      ? html`<form method="get" action="/publisher" role="search" aria-label="Filter agents"><div class="row">
${hidden({ domain, q: asked.text, type: asked.type, cursor: asked.cursor })}
${textField({ name: "agent", label: "Agent", hint: "part of its address", value: asked.agent })}
<button type="submit" class="second">Filter</button></div></form>`
      : "";
  if (agents.length === 0)
    return html`${filter}<p>${asked.agent === "" ? "No agent may sell for it, as far as is known." : "No agent is called so."}</p>`;
  const rows = agents.map((agent) => [
    html`<a href="/agent?url=${encodeURIComponent(agent.url)}">${agent.url}</a>`,
    agent.authorized_for ?? "",
    shareOf(agent),
    sources[agent.source] ?? agent.source,
    html`<a href="${link("/why", { domain, agent: agent.url })}" aria-label="Why may ${agent.url} sell for ${domain}?">why?</a>`,
  ]);
  const next = found.agents_cursor;
  return html`${filter}${total > agents.length ? html`<p>${grouped(agents.length)} of ${grouped(total)}.</p>` : ""}
${table("Authorized agents", ["Agent", "For", "May sell", "Says who", "Because"], rows)}
${next ? html`<p><a rel="next" href="${hereWith(domain, asked, { agentsCursor: next })}">More agents</a></p>` : ""}`;
}

const propertyRow = (property: ToldProperty): Part[] => [
  property.name,
  property.id === null ? "" : html`<code>${property.id}</code>`,
  property.type,
  property.identifiers.slice(0, 12).map(({ type, value }) => html`<div>${type} <code>${value}</code></div>`),
  some(property.tags),
  sources[property.source] ?? property.source,
];

function propertiesOf({ found: { domain, truncated }, properties: page, asked, types }: PublisherView): Html {
  const { total, matching, properties, cursor } = page;
  if (total === 0 && properties.length === 0) return html`<p>No property is known.</p>`;
  const filtered = asked.text !== "" || asked.type !== "";
  const said = filtered
    ? `${matching === null ? "More than 10,000" : grouped(matching)} of ${grouped(total)} match.`
    : `${grouped(total)} in all.`;
  const cut =
    truncated === undefined
      ? ""
      : ` The file has ${grouped(truncated.declared)}, of which ${grouped(truncated.kept)} are kept.`;
  const form = html`<form method="get" action="/publisher" role="search" aria-label="Filter properties"><div class="row">
${hidden({ domain, agent: asked.agent, agents_cursor: asked.agentsCursor })}
${textField({ name: "q", label: "Property", hint: "part of a name, identifier or label", value: asked.text })}
${choice("type", "Kind", asked.type, [["", "any"], ...types.map((one) => [one, one] as const)])}
<button type="submit" class="second">Filter</button></div></form>`;
  return html`${total > properties.length || filtered ? form : ""}<p>${said}${cut}</p>
${properties.length === 0 ? "" : table("Properties", ["Name", "Id", "Kind", "Identifiers", "Labels", "Known from"], properties.map(propertyRow))}
${cursor === null ? "" : html`<p><a rel="next" href="${hereWith(domain, asked, { cursor })}">More properties</a></p>`}
${asked.cursor === "" ? "" : html`<p><a href="${hereWith(domain, asked, { cursor: "" })}">From the beginning</a></p>`}`;
}

const became = { granted: "may sell", changed: "sells otherwise than before", revoked: "may sell no more" } as const;

function changesOf({ properties, agents }: PublisherChanges): Part {
  if (properties === null && agents.length === 0) return "";
  const parts = properties && [
    properties.added > 0 ? `${grouped(properties.added)} came` : "",
    properties.removed > 0 ? `${grouped(properties.removed)} went` : "",
    properties.changed > 0 ? `${grouped(properties.changed)} are otherwise` : "",
  ];
  return html`<h2>What changed</h2>
${parts === null || properties === null ? "" : html`<p>Properties, on ${when(properties.at)}: ${parts.filter((one) => one !== "").join(", ")} (<bdi>${some(properties.names)}</bdi>).</p>`}
${
  agents.length === 0
    ? ""
    : table(
        "Changes of agents, newest first",
        ["When", "Agent", "Since then"],
        agents.map(({ agent_url, change, at }) => [when(at), agent_url, became[change]]),
      )
}`;
}

/** What the brand file says of agents says nothing of who may sell. */
function brandAgentsOf({ files }: PublisherLookup): Part {
  const agents = files?.brand_json.agents ?? [];
  if (agents.length === 0) return "";
  const rows = agents.slice(0, BRAND_AGENTS).map(({ url, type, description, id }) => [url, type, description ?? id]);
  return html`<h2>The brand's own agents</h2>${table("The brand's own agents", ["Agent", "Kind", "What it is"], rows)}`;
}

/** The button that has the file fetched again. */
const recheck = ({ found: { domain }, crawls, pending }: PublisherView): Part => {
  if (!crawls) return "";
  if (pending) return html`<p role="status">It is being fetched now; this page looks again by itself.</p>`;
  return html`<form method="post" action="/publisher/recheck" aria-label="Fetch the file again"><input type="hidden" name="domain" value="${domain}">
<p class="hint">Fetches the file at the origin, as the crawler does.</p><button type="submit">Recheck now</button></form>`;
};

export function publisherPage(view: PublisherView): Html {
  const { found, state, changes } = view;
  const { domain, hosting, member, files } = found;
  return html`${domainForm(domain)}
<h2>What was found at ${domain}</h2>
${verdict(found)}
${facts([
  ["Served by", modes[hosting.mode]],
  ["Expected at", html`<code>${hosting.expected_url}</code>`],
  ["Found at", hosting.resolved_url === null ? null : html`<code>${hosting.resolved_url}</code>`],
  ["Last good fetch", when(hosting.last_validated)],
  ["Last fetch", when(changes.crawled_at)],
  ["Last status", hosting.last_http_status],
  ["Size", hosting.last_bytes === null ? null : `${grouped(hosting.last_bytes)} bytes`],
  ["Origin verified", when(hosting.origin_verified_at)],
  ["Brand file", files?.brand_json.name ?? files?.brand_json.status],
  ["Member", member?.display_name],
])}
${recheck(view)}
${faultsTable(state?.problems ?? [])}
<p><a href="/check?domain=${domain}">Check the file at the domain</a>, with nothing kept of it.</p>
${changesOf(changes)}
<h2>Agents that may sell</h2>
${agentsOf(view)}
<h2>Properties</h2>
${propertiesOf(view)}
${brandAgentsOf(found)}`;
}
