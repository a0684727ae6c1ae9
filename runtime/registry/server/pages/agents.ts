/** `/agents` and `/agent`: agents by what they can sell, and the publishers of one. */
import {
  type AgentProfile,
  type AgentPublishers,
  type AgentSearchResult,
  type Facets,
  type FacetValue,
  SEARCH_DIMENSIONS,
  type SearchDimension,
} from "../../types.js";
import { type Html, html, type Part } from "./html.js";
import { facts, grouped, link, missingParts, some, table, textField } from "./parts.js";

interface Field {
  readonly label: string;
  readonly hint: string;
  /** Choices shown open; the rest is typed. */
  readonly open?: boolean;
}

const fields: Readonly<Record<SearchDimension, Field>> = {
  channels: { label: "Channels", hint: "", open: true },
  property_types: { label: "Kinds of property", hint: "" },
  markets: { label: "Markets", hint: "country codes of two letters, separated by commas, such as DE, AT" },
  categories: { label: "Categories", hint: "of the taxonomy that the publishers use, by their ids" },
  tags: { label: "Labels", hint: "as publishers write them, separated by commas" },
  delivery_types: { label: "Delivery types", hint: "" },
  format_kinds: { label: "Kinds of creative format", hint: "as the agents name them" },
};

/** Choices shown of a dimension whose values anybody may make up. */
const SHOWN = 12;

/** The form's values as they were sent, lists joined by commas. */
export type SearchForm = Readonly<Record<string, string>>;
/** The protocol's own values, by dimension; of the others anybody's. */
export type Vocabulary = Readonly<Partial<Record<SearchDimension, readonly string[]>>>;

const chosenIn = (form: SearchForm, name: SearchDimension): string[] =>
  (form[name] ?? "").split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));

const box = (name: SearchDimension, { value, count: agents }: FacetValue, chosen: boolean): Html =>
  html`<li><label${agents === 0 ? html` class="none"` : ""}><input type="checkbox" name="${name}" value="${value}"${chosen ? html` checked` : ""}> ${value} (${grouped(agents)})</label></li>`;

/** A dimension's choices with their counts: the protocol's values, or those most agents have, and what is chosen. */
function choices(name: SearchDimension, form: SearchForm, facets: Facets, vocabulary: Vocabulary): Html {
  const { label, hint, open = false } = fields[name];
  const chosen = chosenIn(form, name);
  const counts = new Map(facets.values[name].map(({ value, count: agents }) => [value, agents]));
  const own = vocabulary[name];
  const values = own ?? facets.values[name].slice(0, SHOWN).map(({ value }) => value);
  const all = [...new Set([...values, ...chosen.filter((one) => own === undefined || own.includes(one))])];
  const boxes = all.map((value) => box(name, { value, count: counts.get(value) ?? 0 }, chosen.includes(value)));
  const typed =
    own !== undefined
      ? ""
      : html`<div class="field"><label for="${name}">${label}, others</label><p class="hint" id="${name}-hint">${hint}</p>
<input id="${name}" name="${name}" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="2048" list="${name}-list" aria-describedby="${name}-hint" value="">
<datalist id="${name}-list">${facets.values[name].map(({ value, count: agents }) => html`<option value="${value}">${grouped(agents)}</option>`)}</datalist></div>`;
  return html`<details${open || chosen.length > 0 ? html` open` : ""}><summary>${label}${chosen.length > 0 ? `: ${some(chosen, 4)}` : ""}</summary>
<ul class="choices">${boxes}</ul>${typed}</details>`;
}

const searchForm = (form: SearchForm, facets: Facets, vocabulary: Vocabulary, problem?: string): Html => html`
<form method="get" action="/agents" role="search" aria-label="Search agents">
${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
<p class="hint">What is chosen in one group are alternatives; all groups must match. The number beside a choice says how many agents there are with it.</p>
${SEARCH_DIMENSIONS.map((name) => choices(name, form, facets, vocabulary))}
${textField({ name: "min_properties", label: "Fewest properties", hint: "a whole number", type: "number", value: form.min_properties ?? "" })}
<div class="field"><label><input type="checkbox" name="has_tmp" value="true"${form.has_tmp === "true" ? html` checked` : ""}> With trusted match (${grouped(facets.has_tmp)})</label></div>
<button type="submit" name="search" value="1">Search</button>
</form>`;

/** What is chosen, each a link to the search without it. */
function chips(form: SearchForm): Part {
  const all = SEARCH_DIMENSIONS.flatMap((name) => chosenIn(form, name).map((value) => [name, value] as const));
  if (all.length === 0) return "";
  const without = (name: SearchDimension, value: string): string =>
    link("/agents", {
      ...form,
      [name]: chosenIn(form, name)
        .filter((one) => one !== value)
        .join(","),
    });
  return html`<ul class="chips">${all.map(
    ([name, value]) =>
      html`<li><a href="${without(name, value)}" aria-label="Without ${fields[name].label} ${value}">${value} ×</a></li>`,
  )}</ul>`;
}

const next = (path: string, form: SearchForm, cursor: string | null): Part =>
  cursor === null ? "" : html`<p><a rel="next" href="${link(path, { ...form, cursor })}">More</a></p>`;

const agentRow = (agent: AgentProfile): Part[] => [
  html`<a href="/agent?url=${encodeURIComponent(agent.agent_url)}">${agent.agent_url}</a>`,
  some(agent.channels),
  some(agent.markets),
  some(agent.property_types),
  `${grouped(agent.property_count)} at ${grouped(agent.publisher_count)} ${agent.publisher_count === 1 ? "publisher" : "publishers"}`,
];

export interface AgentsView {
  readonly form: SearchForm;
  readonly facets: Facets;
  readonly vocabulary: Vocabulary;
  /** Undefined where nothing was asked yet. */
  readonly found?: AgentSearchResult | undefined;
  readonly problem?: string;
}

export function agentsPage({ form, facets, vocabulary, found, problem }: AgentsView): Html {
  const asking = searchForm(form, facets, vocabulary, problem);
  const missing = missingParts([...new Set([...(found?.missing_parts ?? []), ...(facets.missing_parts ?? [])])].sort());
  if (found === undefined) return html`${missing}${asking}`;
  const { cursor: _, search: __, ...filters } = form;
  if (found.results.length === 0)
    return html`${missing}<p role="status">No agent matches. Take away a choice, or choose more in one group.</p>${chips(filters)}${asking}`;
  return html`<h2>${grouped(facets.total)} ${facets.total === 1 ? "agent matches" : "agents match"}</h2>${missing}${chips(filters)}
${table("Agents, best first", ["Agent", "Channels", "Markets", "Kinds of property", "Properties"], found.results.map(agentRow))}
${next("/agents", filters, found.cursor)}
<h2>Search</h2>${asking}`;
}

const saysWho = {
  adagents_json: "the publisher",
  aao_hosted: "a file hosted here",
  agent_claim: "the agent only",
} as const;

export function agentPage(url: string, found: AgentPublishers | undefined): Html {
  if (found === undefined) return html`${facts([["Agent", html`<code>${url}</code>`]])}<p>Nobody names this agent.</p>`;
  const rows = found.publishers.map((one) => [
    html`<a href="/publisher?domain=${one.publisher_domain}">${one.publisher_domain}</a>`,
    one.authorized_for ?? "",
    one.publisher_wide
      ? "everything"
      : `${grouped(one.properties_authorized ?? 0)} of ${grouped(one.properties_total ?? 0)} properties`,
    saysWho[one.source],
    html`<a href="${link("/why", { domain: one.publisher_domain, agent: found.agent_url })}" aria-label="Why may it sell for ${one.publisher_domain}?">why?</a>`,
  ]);
  return html`${facts([["Agent", html`<code>${found.agent_url}</code>`]])}
<h2>Publishers it may sell for</h2>
${table("Publishers", ["Publisher", "For", "May sell", "Says who", "Because"], rows)}
${next("/agent", { url: found.agent_url }, found.cursor)}`;
}
