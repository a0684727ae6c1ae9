/** `/build`: a form that writes a publisher's file. All of it is in the address, so that a draft can be handed on. */
import type { BuiltAgent, BuiltForm, BuiltProperty } from "../../build-file.js";
import type { CheckedFile } from "./check.js";
import { type Html, html, type Part } from "./html.js";
import { choice, faultsTable, textField } from "./parts.js";

export interface BuildView {
  readonly form: BuiltForm;
  /** The protocol's own values. */
  readonly propertyTypes: readonly string[];
  readonly identifierTypes: readonly string[];
  readonly problem?: string | undefined;
  /** The file, and what the registry would make of it. */
  readonly made?: { readonly text: string; readonly checked: CheckedFile; readonly download: string } | undefined;
}

const same = (values: readonly string[]): (readonly [string, string])[] => values.map((one) => [one, one] as const);

const propertyFields = (one: BuiltProperty, at: number, view: BuildView): Html => html`
<fieldset><legend>Property ${at + 1}</legend><div class="fields">
${textField({ name: `p${at}_name`, label: "Name", value: one.name })}
${textField({ name: `p${at}_id`, label: "Id", hint: "your own, in small letters", value: one.id })}
${choice(`p${at}_type`, "Kind", one.type || "website", same(view.propertyTypes))}
${choice(`p${at}_identifier`, "Identifier is a", one.identifier || "domain", same(view.identifierTypes))}
${textField({ name: `p${at}_value`, label: "Identifier", hint: "such as news.example", value: one.value })}
${textField({ name: `p${at}_tags`, label: "Labels", hint: "separated by commas", value: one.tags })}
</div></fieldset>`;

const sells = [
  ["all", "all of your properties"],
  ["property_ids", "properties with these ids"],
  ["property_tags", "properties with these labels"],
] as const;

const delegations = [
  ["", "not said"],
  ["direct", "direct: you sell by it yourself"],
  ["delegated", "delegated: it sells on your behalf"],
  ["ad_network", "ad network: it sells together with others"],
] as const;

const agentFields = (one: BuiltAgent, at: number): Html => html`
<fieldset><legend>Agent ${at + 1}</legend><div class="fields">
${textField({ name: `a${at}_url`, label: "Address", hint: "such as https://seller.example/mcp", value: one.url })}
${textField({ name: `a${at}_for`, label: "Authorized for", hint: "in words", value: one.for })}
${choice(`a${at}_sells`, "May sell", one.sells || "all", sells)}
${textField({ name: `a${at}_values`, label: "Ids or labels", hint: "separated by commas; not for all", value: one.values })}
${textField({ name: `a${at}_countries`, label: "Countries", hint: "codes of two letters; empty is everywhere", value: one.countries })}
${choice(`a${at}_delegation`, "Delegation", one.delegation, delegations)}
${textField({ name: `a${at}_from`, label: "From", hint: "empty is at once", type: "date", value: one.from })}
${textField({ name: `a${at}_until`, label: "Until", hint: "empty is for good", type: "date", value: one.until })}
</div></fieldset>`;

function madeOf({ made, form: { domain } }: BuildView): Part {
  if (made === undefined) return "";
  const { checked, text, download } = made;
  const verdict = checked.valid
    ? html`<p class="verdict yes"><span class="good">Valid.</span> Serve it at <code>https://${domain}/.well-known/adagents.json</code> as it stands.</p>`
    : html`<p class="verdict no"><span class="bad">Not valid yet:</span> ${checked.error}.</p>`;
  return html`<h2>Your file</h2>${verdict}<pre tabindex="0"><code>${text}</code></pre>
<p><a href="${download}" download="adagents.json">Download adagents.json</a></p>${faultsTable(checked.problems, checked.lines)}`;
}

export const buildPage = (view: BuildView): Part => {
  const { domain, properties, agents } = view.form;
  return html`<p>Says which agents may sell what is yours. Leave a property or an agent empty to leave it out.</p>
${madeOf(view)}
<form method="get" action="/build" aria-label="Write a file">
${textField({ name: "domain", label: "Your domain", hint: "whom the file speaks for, such as news.example", value: domain, required: true, problem: view.problem })}
<h2>Properties</h2>${properties.map((one, at) => propertyFields(one, at, view))}
<h2>Agents</h2>${agents.map(agentFields)}
<input type="hidden" name="properties" value="${properties.length}"><input type="hidden" name="agents" value="${agents.length}">
<p class="row"><button type="submit">Write the file</button>
<button type="submit" class="second" name="more" value="property">One more property</button>
<button type="submit" class="second" name="more" value="agent">One more agent</button></p>
</form>`;
};
