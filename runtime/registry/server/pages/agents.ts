/** `/agents` and `/agent`: agents by what they can sell, and the publishers of one. */
import { type AgentPublishers, type AgentSearchResult, SEARCH_DIMENSIONS, type SearchDimension } from "../../types.js";
import { facts, table } from "./home.js";
import { type Html, html } from "./html.js";

const fields: Readonly<Record<SearchDimension, readonly [label: string, hint: string]>> = {
  channels: ["Channels", "such as display, ctv"],
  property_types: ["Kinds of property", "such as website, mobile_app"],
  markets: ["Markets", "country codes, such as DE, AT"],
  categories: ["Categories", "of IAB's taxonomy"],
  tags: ["Labels", "of properties"],
  delivery_types: ["Delivery types", "such as direct"],
  format_kinds: ["Kinds of creative format", "such as video"],
};

/** The form's values as they were sent. */
export type SearchForm = Readonly<Record<string, string>>;

const field = (name: SearchDimension, form: SearchForm): Html => {
  const [label, hint] = fields[name];
  return html`<div class="field"><label for="${name}">${label}</label><p class="hint" id="${name}-hint">${hint}</p>
<input id="${name}" name="${name}" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${name}-hint" value="${form[name]}"></div>`;
};

const searchForm = (form: SearchForm, problem?: string): Html => html`
<form method="get" action="/agents" role="search" aria-label="Search agents">
${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
<p class="hint">Values in one field are alternatives, separated by commas; all fields must match.</p>
<div class="fields">${SEARCH_DIMENSIONS.map((name) => field(name, form))}
<div class="field"><label for="min_properties">Fewest properties</label><p class="hint" id="min-hint">a whole number</p>
<input id="min_properties" name="min_properties" type="number" min="0" step="1" aria-describedby="min-hint" value="${form.min_properties}"></div></div>
<div class="field"><label><input type="checkbox" name="has_tmp" value="true"${form.has_tmp === "true" ? html` checked` : ""}> With trusted match</label></div>
<button type="submit" name="search" value="1">Search</button>
</form>`;

const nextLink = (path: string, form: SearchForm, cursor: string | null): Html | "" => {
  if (cursor === null) return "";
  const query = new URLSearchParams({ ...form, cursor });
  return html`<p><a rel="next" href="${path}?${query.toString()}">More</a></p>`;
};

export function agentsPage(form: SearchForm, found: AgentSearchResult | undefined, problem?: string): Html {
  if (found === undefined) return html`${searchForm(form, problem)}`;
  if (found.results.length === 0)
    return html`${searchForm(form)}<h2>Results</h2><p role="status">No agent matches. Leave out a field, or give more values in one.</p>`;
  const rows = found.results.map((agent) => [
    html`<a href="/agent?url=${encodeURIComponent(agent.agent_url)}">${agent.agent_url}</a>`,
    agent.channels.join(", "),
    agent.markets.join(", "),
    agent.property_types.join(", "),
    `${agent.property_count} of ${agent.publisher_count} ${agent.publisher_count === 1 ? "publisher" : "publishers"}`,
  ]);
  return html`${searchForm(form)}<h2>Results</h2>
${table("Agents, best first", ["Agent", "Channels", "Markets", "Kinds of property", "Properties"], rows)}
${nextLink("/agents", form, found.cursor)}`;
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
    one.publisher_wide ? "everything" : `${one.properties_authorized} of ${one.properties_total} properties`,
    saysWho[one.source],
  ]);
  return html`${facts([["Agent", html`<code>${found.agent_url}</code>`]])}
<h2>Publishers it may sell for</h2>
${table("Publishers", ["Publisher", "For", "May sell", "Says who"], rows)}
${nextLink("/agent", { url: found.agent_url }, found.cursor)}`;
}
