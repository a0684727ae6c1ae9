/** The page of a tool. */
import { linkFrom } from "../address.js";
import { type Insert, type Markup, markup } from "../markup.js";
import type { MessageView, ToolView } from "../views.js";
import { exampleMarkup, fieldsMarkup, type Here, pageLink, prose, schemaLink, withCommas } from "./fields.js";

const idempotency: Readonly<Record<string, string>> = {
  required: "required: repeat a call under its key and nothing happens twice",
  optional: "optional: repeat a call under its key where you sent one",
  exempt: "exempt: doing it twice is doing it once",
  none: "none: it takes no key",
};

/** In which releases of the site something is. */
export interface Presence {
  readonly version: string;
  /** The page over there; absent where it has none. */
  readonly page?: string;
}

export function presenceMarkup({ path }: Here, presence: readonly Presence[]): Insert {
  if (presence.length < 2) return undefined;
  const items = presence.map(({ version, page }) =>
    page === undefined
      ? markup`<li class="absent">${version} <small>no</small>`
      : markup`<li>${page === path ? markup`<b>${version}</b>` : markup`<a href="${linkFrom(path, `${page}.html`)}">${version}</a>`}`,
  );
  return markup`<dt>In releases<dd><ul class="inline">${items}</ul>`;
}

const bytes = (count: number): string => `${(count / 1000).toFixed(1)} kB`;

function messageMarkup(here: Here, id: string, heading: Insert, message: MessageView): Markup {
  const { schema, fields, examples } = message;
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
<p class="from">Schema ${schemaLink(here, schema, schema)}${fields.title !== undefined && ` - ${fields.title}`}</p>
${id === "request" ? undefined : markup`<div class="prose">${prose(fields.about)}</div>`}${fieldsMarkup(here, fields, id, `Fields of ${id}`)}
${exampleMarkup(examples, id)}</section>`;
}

function armMarkup(here: Here, arm: ToolView["arms"][number], tool: ToolView): Insert {
  const id = `arm-${arm.status}`;
  const heading = markup`Answer: <code>${arm.status}</code>`;
  if ("schema" in arm) return messageMarkup(here, id, heading, arm);
  if (arm.carries === "nothing told")
    return markup`<section><h2 id="${id}">${heading}</h2><p>The release says nothing of its data.</section>`;
  const beside =
    tool.failureFields.length > 0 &&
    markup`, and may have ${withCommas(tool.failureFields.map((one) => markup`<code>${one}</code>`))} beside them`;
  return markup`<section><h2 id="${id}">${heading}</h2><p>It carries <code>errors</code>${beside}; each error has a <a href="${linkFrom(here.path, `${here.book.folder}codes/index.html`)}">code and a recovery</a>.</section>`;
}

function factsMarkup(here: Here, view: ToolView, presence: readonly Presence[]): Markup {
  const tools = (names: readonly string[]): Insert => withCommas(names.map((name) => pageLink(here, "tools", name)));
  const claims = (ids: readonly string[]): Insert => withCommas(ids.map((id) => pageLink(here, "specialisms", id)));
  return markup`<dl class="facts">
<dt>Area<dd><a href="${linkFrom(here.path, `${here.book.folder}index.html#area-${view.area}`)}">${view.area}</a>
<dt>Effect<dd>${view.mutating ? "writes" : "only reads"}
<dt>Idempotency key<dd>${idempotency[view.idempotency] ?? view.idempotency}
${view.addedIn !== undefined && markup`<dt>Added in<dd>${view.addedIn}`}
${view.deprecatedIn !== undefined && markup`<dt>Deprecated in<dd>${view.deprecatedIn}`}
${view.supersededBy !== undefined && markup`<dt>Superseded by<dd>${tools(view.supersededBy)}`}
${view.fallback !== undefined && markup`<dt>With an older peer<dd>${view.fallback.mode}${view.fallback.tool !== undefined && [": ", tools([view.fallback.tool])]}`}
${view.specialisms.length > 0 && markup`<dt>Exercised by<dd>${claims(view.specialisms)}`}
${view.neededBy.length > 0 && markup`<dt>Needed by<dd>${view.neededBy.length === here.book.specialisms.size ? "every specialism" : claims(view.neededBy)}`}
<dt>Cost in a tool list<dd>${bytes(view.listing.described)} described, ${bytes(view.listing.bare)} bare (<a href="${linkFrom(here.path, `${here.book.folder}listing.html`)}">all tools</a>)
${view.codes.length > 0 && markup`<dt>Codes it speaks of<dd>${withCommas(view.codes.map((code) => pageLink(here, "codes", code)))}`}
${presenceMarkup(here, presence)}</dl>`;
}

export function toolPage(here: Here, view: ToolView, presence: readonly Presence[]): Markup {
  const file = here.path.split("/").at(-1)!;
  const failing = view.arms.filter((arm) => "carries" in arm && arm.carries === "failure");
  const telling = view.arms.filter((arm) => !failing.includes(arm));
  return markup`<h1><code>${view.name}</code></h1>
${view.deprecatedIn !== undefined && markup`<p class="warn">Deprecated since ${view.deprecatedIn}.</p>`}
<div class="lead">${prose(view.about)}</div>
<nav class="toc" aria-label="On this page"><a href="#request">Request</a>${view.arms.map(({ status }) => markup` <a href="#arm-${status}">${status}</a>`)} <a href="${`${file}.md`}">Markdown</a></nav>
${factsMarkup(here, view, presence)}
${messageMarkup(here, "request", "Request", view.request)}
${[...telling, ...failing].map((arm) => armMarkup(here, arm, view))}`;
}
