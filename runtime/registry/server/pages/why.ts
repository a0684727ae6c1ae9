/** `/why`: why an agent may sell something of a publisher, or why not. */
import type { EntryGrant, Explanation } from "../../types.js";
import { type Html, html, type Part } from "./html.js";
import { facts, link, some, sources, table, textField, when } from "./parts.js";

export interface WhyForm {
  readonly domain: string;
  readonly agent: string;
  readonly property: string;
  /** What is suggested. */
  readonly agents?: readonly string[];
  readonly properties?: readonly string[];
  /** What is wrong, by field. */
  readonly problems?: { readonly domain?: string; readonly agent?: string };
}

const form = ({ domain, agent, property, agents, properties, problems }: WhyForm): Html => html`
<form method="get" action="/why" role="search" aria-label="Ask why an agent may sell">
${textField({ name: "domain", label: "Publisher's domain", hint: "such as news.example", value: domain, required: true, problem: problems?.domain })}
${textField({ name: "agent", label: "Agent", hint: "its address, such as https://seller.example/mcp", value: agent, required: true, problem: problems?.agent, ...(agents && { list: agents }) })}
${textField({ name: "property", label: "Property", hint: "its id or an identifier, such as a domain or a bundle id; empty is any", value: property, ...(properties && { list: properties }) })}
<button type="submit">Ask</button>
</form>`;

const kinds: Readonly<Record<string, string>> = {
  property_ids: "properties by their ids",
  property_tags: "properties by their labels",
  inline_properties: "properties listed in the entry",
  publisher_properties: "properties of publishers that it names",
  signal_ids: "signals by their ids",
  signal_tags: "signals by their labels",
};

const listed = (value: unknown): string =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? some(value, 20) : JSON.stringify(value);

const selectorOf = ({ authorization_type: type, selector, covers }: EntryGrant): Part => {
  const values = Object.entries(selector);
  return html`${type === null ? "all the publisher has" : kinds[type]}${values.map(
    ([name, value]) => html`<div><code>${name}</code>: ${listed(value)}</div>`,
  )}<div>${covers === null ? "covers everything" : `covers ${covers} ${covers === 1 ? "property" : "properties"}`}</div>`;
};

const span = ({ effective_from: from, effective_until: until }: EntryGrant): string => {
  if (from === null && until === null) return "no dates";
  return `${from === null ? "" : `from ${when(from)} `}${until === null ? "" : `until ${when(until)}`}`.trim();
};

const answered = (grant: EntryGrant): string => {
  if (!grant.counts) return "does not count";
  if (!grant.in_effect) return "not in effect";
  return grant.covers === 0 || grant.covers_property === false ? "not this" : "yes";
};

const grantRow = (grant: EntryGrant): Part[] => [
  grant.pointer === null ? (sources[grant.source] ?? grant.source) : html`<code>${grant.pointer}</code>`,
  grant.authorized_for,
  selectorOf(grant),
  grant.countries.length === 0 ? "everywhere" : some(grant.countries),
  span(grant),
  html`${grant.delegation_type ?? "not said"}${grant.exclusive === true ? ", exclusive" : ""}`,
  answered(grant),
];

const methods = {
  direct: "at the publisher's own origin",
  authoritative_location: "at the location that the publisher points to",
  ads_txt_managerdomain: "at the manager that ads.txt names",
} as const;

function answerOf(found: Explanation): Html {
  const { publisher_domain: domain, agent_url: agent, property, may_sell: may, file } = found;
  // Names are publishers' own words, and may hold marks that turn the direction of what comes after: each ends with its own.
  const what = property === null ? `inventory of ${domain}` : html`<bdi>${property.name}</bdi> of ${domain}`;
  const reasons = found.why_not.map(
    ({ message, remedy }) => html`<li><bdi>${message}</bdi>. What to do: ${remedy}.</li>`,
  );
  return html`<h2>Answer</h2>
<p class="verdict ${may ? "yes" : "no"}"><strong class="${may ? "good" : "bad"}">${may ? "Yes." : "No."}</strong> <code>${agent}</code> ${may ? "may" : "may not"} sell ${what}${may && found.since !== null ? html`; so it has been since ${when(found.since)}` : ""}.</p>
${reasons.length === 0 ? "" : html`<h3>Why not</h3><ul>${reasons}</ul>`}
${
  found.path.length === 0
    ? ""
    : html`<h3>The way from the publisher to the agent</h3><ol class="path">${found.path.map(
        ({ message, url }) =>
          html`<li><bdi>${message}</bdi>${url === undefined ? "" : html` <code>${url}</code>`}</li>`,
      )}</ol>`
}
<h3>The file</h3>
${facts([
  ["Is at", file.url === null ? null : html`<code>${file.url}</code>`],
  ["Expected at", html`<code>${file.expected_url}</code>`],
  ["Found", file.method === null ? null : methods[file.method]],
  ["Manager", file.manager_domain],
  ["Last valid", when(file.last_validated)],
  ["Last fetched", when(file.last_crawled)],
])}
${found.grants.length === 0 ? "" : html`<h3>Its entries about the agent</h3>${table("Entries about the agent", ["Entry", "For", "Selects", "Countries", "Dates", "Delegation", "Lets it sell"], found.grants.map(grantRow))}`}
<p><a href="${link("/publisher", { domain })}">All that is known of ${domain}</a>, <a href="${link("/agent", { url: agent })}">the agent's other publishers</a>.</p>`;
}

export const whyPage = (given: WhyForm, found?: Explanation): Part =>
  html`${found === undefined ? html`<p>Any agent and any publisher: the file, the entry in it, what it selects, its dates, and the way from one to the other.</p>` : ""}${form(given)}${found === undefined ? "" : answerOf(found)}`;
