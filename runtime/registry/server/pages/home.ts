/** `/` and `/publisher`: a domain, what was found at its origin and why, and which agents may sell what. */
import type { FileProblem } from "../../file-problems.js";
import type { CrawlState, PublisherLookup } from "../../types.js";
import { type Html, html, type Part } from "./html.js";

export const domainForm = (value: string, problem?: string): Html => html`
<form method="get" action="/publisher" role="search" aria-label="Look up a publisher">
<div class="field"><label for="domain">Publisher's domain</label>
<p class="hint" id="domain-hint">For example news.example; a scheme and a path are ignored.</p>
<input id="domain" name="domain" type="text" inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="2048" aria-describedby="domain-hint${problem === undefined ? "" : " domain-problem"}"${problem === undefined ? "" : html` aria-invalid="true"`} value="${value}">
${problem === undefined ? "" : html`<p class="bad" id="domain-problem" role="alert">${problem}</p>`}</div>
<button type="submit">Look up</button>
</form>`;

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

const facts = (rows: readonly (readonly [string, Part])[]): Html =>
  html`<dl>${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** On a phone each row is a card, whose cells say what they are; the roles are said, since that takes them from a table. */
const table = (caption: string, heads: readonly string[], rows: readonly (readonly Part[])[]): Html => html`
<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">${heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => html`<tr role="row">${cells.map((cell, at) => html`<td role="cell" data-head="${heads[at] ?? ""}">${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;

const sources: Readonly<Record<string, string>> = {
  adagents_json: "the publisher's file",
  aao_hosted: "a file hosted here, origin not verified yet",
  agent_claim: "the agent's own claim only",
  discovered: "a crawl",
  brand_json: "the brand file",
};

/** An instant for people; minutes are enough. */
const when = (instant: string | null): string | null =>
  instant === null ? null : `${instant.slice(0, 16).replace("T", " ")} UTC`;

/** Rows shown of long lists; the API gives them all. */
const ROWS = 200;

const more = (total: number, domain: string): Part =>
  total > ROWS
    ? html`<p>The first ${ROWS} of ${total}; <a href="/api/registry/publisher?domain=${domain}">all of them as JSON</a>.</p>`
    : "";

function shareOf(agent: PublisherLookup["authorized_agents"][number], domain: string): Part {
  if (agent.source === "agent_claim") return "nothing the publisher confirms";
  if (agent.publisher_wide) return "everything";
  if (agent.publisher_wide === false) return `${agent.properties_authorized} of ${agent.properties_total} properties`;
  const query = new URLSearchParams({ domain, agent: agent.url });
  return html`<a href="/api/registry/publisher/authorization?${query.toString()}">count</a>`;
}

function agentsOf({ authorized_agents: agents, domain }: PublisherLookup): Html {
  if (agents.length === 0) return html`<p>No agent may sell for it, as far as is known.</p>`;
  const rows = agents
    .slice(0, ROWS)
    .map((agent) => [
      html`<a href="/agent?url=${encodeURIComponent(agent.url)}">${agent.url}</a>`,
      agent.authorized_for ?? "",
      shareOf(agent, domain),
      sources[agent.source] ?? agent.source,
    ]);
  return html`${table("Authorized agents", ["Agent", "For", "May sell", "Says who"], rows)}${more(agents.length, domain)}`;
}

function propertiesOf({ properties, domain }: PublisherLookup): Html {
  if (properties.length === 0) return html`<p>No property is known.</p>`;
  const rows = properties
    .slice(0, ROWS)
    .map((property) => [
      property.name ?? property.id ?? "",
      property.type ?? "",
      (property.identifiers ?? []).map(({ type, value }) => html`<div>${type} <code>${value}</code></div>`),
      (property.tags ?? []).join(", "),
      sources[property.source] ?? property.source,
    ]);
  return html`${table("Properties", ["Name", "Kind", "Identifiers", "Labels", "Known from"], rows)}${more(properties.length, domain)}`;
}

/** What the brand file says of agents says nothing of who may sell. */
function brandAgentsOf({ files, domain }: PublisherLookup): Part {
  const agents = files?.brand_json.agents ?? [];
  if (agents.length === 0) return "";
  const rows = agents.slice(0, ROWS).map(({ url, type, description, id }) => [url, type, description ?? id]);
  return html`<h2>The brand's own agents</h2>${table("The brand's own agents", ["Agent", "Kind", "What it is"], rows)}${more(agents.length, domain)}`;
}

const effects = { left: "left out", noted: "kept" } as const;

const faultRow = ({ pointer, message, rule, remedy, effect }: FileProblem, line?: number) => [
  html`<code>${pointer === "" ? "the file" : pointer}</code>${line === undefined ? "" : ` line ${line}`}`,
  message,
  html`<code>${rule}</code>`,
  remedy,
  effects[effect],
];

/** What is wrong with a file, where, by which rule, and what to do. @param lines of the places, where they are known */
export const faultsTable = (problems: readonly FileProblem[], lines: ReadonlyMap<string, number> = new Map()): Part =>
  problems.length === 0
    ? ""
    : html`<h3>Faults in the file</h3>${table(
        "Faults in the file",
        ["Where", "What", "Rule", "What to do", ""],
        problems.slice(0, ROWS).map((one) => faultRow(one, lines.get(one.pointer))),
      )}`;

/** @param state what the last crawl left out of the file, where there was one */
export function publisherPage(found: PublisherLookup, state: CrawlState | undefined): Html {
  const { domain, hosting, member, files } = found;
  return html`${domainForm(domain)}
<h2>What was found at ${domain}</h2>
${verdict(found)}
${facts([
  ["Served by", modes[hosting.mode]],
  ["Expected at", html`<code>${hosting.expected_url}</code>`],
  ["Found at", hosting.resolved_url === null ? null : html`<code>${hosting.resolved_url}</code>`],
  ["Last good fetch", when(hosting.last_validated)],
  ["Last status", hosting.last_http_status],
  ["Size", hosting.last_bytes === null ? null : `${hosting.last_bytes} bytes`],
  ["Origin verified", when(hosting.origin_verified_at)],
  ["Brand file", files?.brand_json.name ?? files?.brand_json.status],
  ["Member", member?.display_name],
])}
${faultsTable(state?.problems ?? [])}
<p><a href="/check?domain=${domain}">Look at the file now</a></p>
<h2>Agents that may sell</h2>
${agentsOf(found)}
<h2>Properties</h2>
${propertiesOf(found)}
${brandAgentsOf(found)}
<p><a href="/api/registry/publisher?domain=${domain}">The same as JSON</a></p>`;
}

export const homePage = (): Html => html`
<p>Which agents may sell a publisher's inventory is written in a file at the publisher's own origin. Type a domain to see
what was found there, and what it says.</p>
${domainForm("")}
<p>Or <a href="/check">have a file looked at before you publish it</a>, <a href="/agents">search agents by what they can sell</a>, read <a href="/docs">how programs ask</a>.</p>`;

export { facts, table };
