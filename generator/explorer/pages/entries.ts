/** The pages of one code, event, specialism or schema. */
import { linkFrom } from "../address.js";
import { type Insert, type Markup, markup } from "../markup.js";
import type { CodeView, EventView, SchemaView, SpecialismView } from "../views.js";
import {
  article,
  exampleMarkup,
  fieldsMarkup,
  type Here,
  pageLink,
  plainTable,
  prose,
  quoted,
  schemaLink,
  withCommas,
} from "./fields.js";
import { type Presence, presenceMarkup } from "./tool.js";

/** What a recovery asks of who gets the error. */
export const recoveryAdvice: Readonly<Record<string, string>> = {
  correctable: "change the request and send it again",
  transient: "send the same again later",
  terminal: "do not send it again: somebody has to step in",
};

export function codePage(here: Here, view: CodeView, presence: readonly Presence[]): Markup {
  const { tools, schemas, codes } = view.mentions;
  return markup`<h1><code>${view.code}</code></h1>
<div class="lead">${prose(view.description)}</div>
<dl class="facts">
<dt>Recovery<dd><b class="tag ${view.recovery}">${view.recovery}</b> ${recoveryAdvice[view.recovery]}
<dt>What to do<dd>${quoted(view.suggestion)}
${view.addedIn !== undefined && markup`<dt>Added in<dd>${view.addedIn}`}
${codes.length > 0 && markup`<dt>See also<dd>${withCommas(codes.map((code) => pageLink(here, "codes", code)))}`}
${tools.length > 0 && markup`<dt>Tools that speak of it<dd>${withCommas(tools.map((tool) => pageLink(here, "tools", tool)))}`}
${schemas.length > 0 && markup`<dt>Schemas that speak of it<dd>${withCommas(schemas.map((path) => schemaLink(here, path, path)))}`}
${presenceMarkup(here, presence)}</dl>`;
}

export function eventPage(here: Here, view: EventView, presence: readonly Presence[]): Markup {
  return markup`<h1><code>${view.kind}</code></h1>
<div class="lead">${prose(view.about)}</div>
<dl class="facts">
<dt>Schema<dd>${schemaLink(here, view.schema, view.schema)}
${view.discriminator !== undefined && markup`<dt>Told apart by<dd><code>${view.discriminator}</code>`}
<dt>A body must have<dd>${view.required.length === 0 ? "nothing by name" : withCommas(view.required.map((name) => markup`<code>${name}</code>`))}
<dt>Can be subscribed to<dd>${view.subscribable ? "yes" : "no: it comes with what it is about"}
<dt>Said by<dd><code>${view.from}</code>
${presenceMarkup(here, presence)}</dl>
<section><h2 id="body">Body</h2>${fieldsMarkup(here, view.fields, "body", "Fields of the body")}
${exampleMarkup(view.examples, view.kind)}</section>`;
}

const roles: Readonly<Record<string, string>> = {
  seller: "A seller",
  governance: "A governance agent",
  buyer: "A buyer",
  orchestrator: "An orchestrator",
};

/** Why a tool is on the list, as a mark. */
const reasons: Readonly<Record<string, string>> = {
  "entry point": "correctable",
  exercised: "",
  "needed beside": "transient",
};

export function specialismPage(here: Here, view: SpecialismView, presence: readonly Presence[]): Markup {
  const caller = view.role === "buyer" || view.role === "orchestrator";
  const must = caller ? "call" : "implement";
  const rows = view.tools.map(({ name, about, why, mutating, idempotency, arms }): Insert[] => [
    pageLink(here, "tools", name),
    markup`<b class="tag ${reasons[why]}">${why}</b>`,
    quoted(about),
    mutating ? "writes" : "reads",
    idempotency,
    arms.join(", "),
  ]);
  return markup`<h1>What must ${article(view.id)} <code>${view.id}</code> ${view.role} ${must}?</h1>
<div class="lead">${view.title}</div>
<p>${roles[view.role] ?? "An agent"} that claims <code>${view.id}</code> ${caller ? "calls" : "answers"} these ${view.tools.length} tools${caller ? "" : ", each with every status that it may come to"}. Entry points are asked first, its tests exercise the rest; needed beside is what every agent has, and what others fall back to.</p>
${plainTable(`Tools of ${view.id}`, ["Tool", "Why", "What it does", "Effect", "Key", "May answer"], rows)}
<dl class="facts"><dt>Area<dd>${view.area}
${view.harness.length > 0 && markup`<dt>Steps of its tests that are no tools<dd>${withCommas(view.harness.map((one) => markup`<code>${one}</code>`))}`}
${!caller && markup`<dt>Start one<dd><code>adbind new seller my-seller --specialism ${view.id}</code><dt>Check one<dd><code>adbind check URL --specialism ${view.id}</code>`}
${presenceMarkup(here, presence)}</dl>`;
}

function usesMarkup(here: Here, { usedBy, messages, events }: SchemaView): Insert {
  const byPath = new Map<string, string[]>();
  for (const { path, pointer } of usedBy) byPath.set(path, [...(byPath.get(path) ?? []), pointer]);
  const rows = [...byPath].map(
    ([path, pointers]) =>
      markup`<li>${schemaLink(here, path, path)} ${pointers.length > 1 ? markup`<details><summary>${pointers.length} places</summary>${pointers.map((one) => markup`<code>${one}</code><br>`)}</details>` : markup`<code>${pointers[0]}</code>`}`,
  );
  return markup`<section><h2 id="used-by">Used by</h2>
${messages.length > 0 && markup`<p>${withCommas(messages.map(({ tool, side }) => markup`${pageLink(here, "tools", tool)} (${side})`))}`}
${events.length > 0 && markup`<p>Events ${withCommas(events.map((kind) => pageLink(here, "events", kind)))}`}
${rows.length > 0 ? markup`<ul class="uses">${rows}</ul>` : messages.length + events.length === 0 && markup`<p>Nothing in the release refers to it.`}</section>`;
}

export function schemaPage(here: Here, view: SchemaView, presence: readonly Presence[]): Markup {
  const [message] = view.messages;
  const there =
    message &&
    linkFrom(
      here.path,
      `${here.book.page("tools", message.tool)}.html#${message.side === "request" ? "request" : `arm-${message.side}`}`,
    );
  const fields =
    view.fields === undefined
      ? markup`<p>It is the ${message!.side === "request" ? "request" : markup`<code>${message!.side}</code> answer`} of <code>${message!.tool}</code>: <a href="${there ?? ""}">its fields stand on that page</a>.`
      : markup`${fieldsMarkup(here, view.fields, "field", "Fields")}${exampleMarkup(view.examples ?? [], view.path)}`;
  return markup`<h1>${view.title ?? view.path}</h1>
<p class="from"><code>${view.path}</code></p>
<div class="lead">${prose(view.about)}</div>
<section><h2 id="fields">Fields</h2>${fields}</section>
${view.parts.map(({ ref, fields: table }) => {
  const pointer = ref.slice(ref.indexOf("#") + 1);
  return markup`<section><h2 id="${pointer}"><code>${pointer}</code></h2><div class="prose">${prose(table.about)}</div>${fieldsMarkup(here, table, pointer, `Fields of ${pointer}`)}</section>`;
})}
${usesMarkup(here, view)}
<dl class="facts">${presenceMarkup(here, presence)}</dl>`;
}
