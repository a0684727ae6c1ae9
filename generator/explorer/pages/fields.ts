/** Tables of fields, examples and texts, as the pages of a release print them. */
import { firstSentence } from "../../model/sentence.js";
import type { Json } from "../../model/shape.js";
import { linkFrom } from "../address.js";
import { type Book, pageOfSchema } from "../book.js";
import type { Example } from "../example.js";
import type { FieldRow, FieldTable } from "../fields.js";
import { type Insert, type Markup, markup } from "../markup.js";
import type { TypePart } from "../type-text.js";

/** Where links start from. */
export interface Here {
  readonly book: Book;
  /** Path of the page, without its ending. */
  readonly path: string;
}

/** Characters of a text that are shown at once; what is longer opens. */
const SHOWN = 240;

/** Values of a list that are shown at once. */
const SHOWN_VALUES = 12;

/** A text with what it quotes as code; nothing else in it is a mark. */
export const quoted = (text: string): Insert =>
  text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : markup`<code>${part}</code>`));

/** A text as far as a reader needs it at first, the rest a click away. */
export function prose(text: string | undefined): Insert {
  if (text === undefined || text.trim() === "") return undefined;
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= SHOWN) return quoted(line);
  const sentence = firstSentence(line);
  const head =
    line.startsWith(sentence) && sentence.length < line.length ? sentence : line.slice(0, line.lastIndexOf(" ", SHOWN));
  return markup`${quoted(head)} <details class="more"><summary>more</summary>${quoted(line.slice(head.length))}</details>`;
}

/** Where a place inside a schema stands on its page: parts have a heading each, properties a row. */
function anchorOf(book: Book, ref: string): string {
  const [file = "", pointer] = ref.split("#");
  if (pointer === undefined || book.messages.has(file)) return "";
  if (/^\/(\$defs|definitions)\//.test(pointer)) return `#${pointer}`;
  const steps = pointer
    .replace(/\/items$/, "")
    .split("/")
    .slice(1);
  const named = steps.every((step, index) => index % 2 === 1 || step === "properties");
  if (!named || steps.length === 0 || steps.length % 2 === 1) return "";
  const names = steps.filter((_, index) => index % 2 === 1);
  return `#field.${names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).join(".")}`;
}

export const schemaLink = ({ book, path }: Here, ref: string, text: string): Insert => {
  const page = pageOfSchema(book, ref);
  if (page === undefined) return text;
  const anchor = anchorOf(book, ref);
  return markup`<a href="${linkFrom(path, `${page}.html${anchor}`)}">${text}</a>`;
};

export const pageLink = ({ book, path }: Here, kind: Parameters<Book["page"]>[0], name: string): Insert => {
  const page = book.page(kind, name);
  return page === undefined
    ? markup`<code>${name}</code>`
    : markup`<a href="${linkFrom(path, `${page}.html`)}"><code>${name}</code></a>`;
};

const typeMarkup = (here: Here, parts: readonly TypePart[]): Insert =>
  parts.map((part) => (typeof part === "string" ? part : schemaLink(here, part.to, part.text)));

const tag = (text: string, kind: string): Markup => markup` <b class="tag ${kind}">${text}</b>`;

function valueList(values: FieldRow["values"]): Insert {
  if (values === undefined) return undefined;
  const described = values.some(({ meaning }) => meaning !== undefined);
  const shown = described
    ? markup`<dl>${values.map(({ value, meaning }) => markup`<dt><code>${value}</code><dd>${meaning !== undefined && quoted(meaning)}`)}</dl>`
    : markup`<p class="values">${values.map(({ value }) => markup`<code>${value}</code> `)}`;
  if (values.length <= SHOWN_VALUES && !described) return shown;
  const few = values.slice(0, 4).map(({ value }) => value);
  return markup`<details><summary>${values.length} values: ${few.join(", ")}${values.length > few.length && ", ..."}</summary>${shown}</details>`;
}

const noteList = (notes: readonly string[] | undefined): Insert =>
  notes !== undefined && notes.length > 0 && markup`<ul class="notes">${notes.map((note) => markup`<li>${note}`)}</ul>`;

const nameMarkup = ({ name, kind }: FieldRow): Markup =>
  kind === "property" ? markup`<code>${name}</code>` : markup`<i>${name}</i>`;

function rowMarkup(here: Here, row: FieldRow, prefix: string, level: number): Insert {
  const id = `${prefix}.${row.at}`;
  return markup`<tr id="${id}"${level > 0 && markup` class="l${Math.min(level, 8)}"`}><th><a href="${`#${encodeURIComponent(id)}`}">${nameMarkup(row)}</a>${row.required && tag("required", "must")}${row.deprecated && tag("deprecated", "old")}${row.experimental && tag("experimental", "new")}<span class="type">${typeMarkup(here, row.type)}</span><td>${prose(row.about)}${valueList(row.values)}${noteList(row.notes)}${row.from !== undefined && markup`<p class="from">from ${schemaLink(here, row.from, row.from)}`}
${(row.rows ?? []).map((inner) => rowMarkup(here, inner, prefix, level + 1))}`;
}

/**
 * A table of fields.
 * @param prefix what its anchors begin with, one for each table of a page
 */
export function fieldsMarkup(here: Here, table: FieldTable, prefix: string, caption: string): Insert {
  const head = markup`${valueList(table.values)}${noteList(table.notes)}`;
  if (table.rows.length === 0) return markup`${head}<p class="type">${typeMarkup(here, table.type)}`;
  return markup`${head}<table class="fields"><caption>${caption}</caption><thead><tr><th scope="col">Field<th scope="col">Meaning<tbody>
${table.rows.map((row) => rowMarkup(here, row, prefix, 0))}</table>`;
}

const told = { release: "from the release, validated", made: "made from the schema, validated" } as const;

export const exampleMarkup = (examples: readonly Example[], what: string): Insert =>
  examples.length === 0
    ? markup`<p class="none">No example: the release shows none, and none could be made that is valid.`
    : examples.map(
        ({ value, from, title }) =>
          markup`<figure><figcaption>${title ?? "Example"} <small>${told[from]}</small></figcaption><pre tabindex="0" aria-label="${`Example of ${what}`}"><code>${jsonText(value)}</code></pre></figure>`,
      );

const jsonText = (value: Json): string => JSON.stringify(value, null, 2);

/** Columns of a table whose cells stand one below the other on a narrow screen; one of more is scrolled by itself. */
const MOST_STACKED = 4;

/** A table whose rows are cells. */
export const plainTable = (caption: string, head: readonly Insert[], rows: readonly (readonly Insert[])[]): Markup =>
  markup`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table${head.length <= MOST_STACKED && markup` class="stack"`}><thead><tr>${head.map((cell) => markup`<th scope="col">${cell}`)}<tbody>
${rows.map(
  ([first, ...rest]) => markup`<tr><th scope="row">${first}${rest.map((cell) => markup`<td>${cell}`)}
`,
)}</table></div>`;

export const withCommas = (list: readonly Insert[]): Insert =>
  list.map((one, index) => (index === 0 ? one : [", ", one]));

/** The article that a name takes, as near as its first letter tells. */
export const article = (name: string): string => (/^[aeiou]/i.test(name) ? "an" : "a");
