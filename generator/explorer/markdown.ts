/** Tools as Markdown, and the list of them that language models look for. */
import type { Book } from "./book.js";
import type { FieldRow } from "./fields.js";
import { codeMarkdown, plainMarkdown } from "./markup.js";
import { bookName, type SiteContents } from "./pages/layout.js";
import type { MessageView, ToolView } from "./views.js";

const typeOf = ({ type }: Pick<FieldRow, "type">): string =>
  type.map((part) => (typeof part === "string" ? part : part.text)).join("");

function rowLines(row: FieldRow, level: number): string[] {
  const name = row.kind === "property" ? codeMarkdown(row.name) : plainMarkdown(row.name);
  const marks = [...(row.required ? ["required"] : []), ...(row.deprecated ? ["deprecated"] : [])];
  const values = row.values?.map(({ value }) => codeMarkdown(value)).join(", ");
  const said = [
    ...(row.about === undefined ? [] : [plainMarkdown(row.about)]),
    ...(values === undefined ? [] : [`One of ${values}.`]),
    ...(row.notes ?? []).map((note) => `${plainMarkdown(note)}.`),
  ];
  const head = `${"  ".repeat(level)}- ${name} (${[plainMarkdown(typeOf(row)), ...marks].join(", ")})`;
  return [
    said.length === 0 ? head : `${head}: ${said.join(" ")}`,
    ...(row.rows ?? []).flatMap((inner) => rowLines(inner, level + 1)),
  ];
}

function messageLines(heading: string, { schema, fields, examples }: MessageView): string[] {
  const [example] = examples;
  const notes = fields.notes.map((note) => `- ${plainMarkdown(note)}`);
  const text = JSON.stringify(example?.value, null, 2);
  return [
    `## ${heading}`,
    "",
    `Schema ${codeMarkdown(schema)}.`,
    "",
    ...(fields.rows.length === 0
      ? [`It is ${plainMarkdown(typeOf(fields))}.`]
      : fields.rows.flatMap((row) => rowLines(row, 0))),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    // Four ticks: what a release quotes has three at most, and JSON has none at the start of a line.
    ...(example === undefined ? [] : ["", "Example:", "", "````json", text, "````"]),
    "",
  ];
}

/** A tool's page as Markdown. */
export function toolMarkdown(book: Book, view: ToolView): string {
  const failing = view.arms.flatMap((arm) =>
    "carries" in arm && arm.carries === "failure" ? [codeMarkdown(arm.status)] : [],
  );
  const facts = [
    `- Release: ${plainMarkdown(bookName(book))}`,
    `- Area: ${plainMarkdown(view.area)}`,
    `- Effect: ${view.mutating ? "writes" : "only reads"}`,
    `- Idempotency key: ${view.idempotency}`,
    ...(view.deprecatedIn === undefined ? [] : [`- Deprecated in ${plainMarkdown(view.deprecatedIn)}`]),
    ...(view.supersededBy === undefined ? [] : [`- Superseded by ${view.supersededBy.map(codeMarkdown).join(", ")}`]),
    ...(view.specialisms.length === 0 ? [] : [`- Specialisms: ${view.specialisms.map(codeMarkdown).join(", ")}`]),
    `- Bytes in a tool list: ${view.listing.described}`,
  ];
  return [
    `# ${codeMarkdown(view.name)}`,
    "",
    plainMarkdown(view.about),
    "",
    ...facts,
    "",
    ...messageLines("Request", view.request),
    ...view.arms.flatMap((arm) => ("schema" in arm ? messageLines(`Answer: ${arm.status}`, arm) : [])),
    ...(failing.length === 0
      ? []
      : [`Answers ${failing.join(", ")} carry \`errors\`, each with a code and a recovery.`, ""]),
    ...(view.codes.length === 0 ? [] : [`Codes it speaks of: ${view.codes.map(codeMarkdown).join(", ")}.`, ""]),
  ].join("\n");
}

function releaseLines(book: Book): string[] {
  const { model, folder } = book;
  return [
    `## ${plainMarkdown(bookName(book))}`,
    "",
    ...model.tools.map(
      ({ name, summary }) => `- [${plainMarkdown(name)}](${book.page("tools", name)}.md): ${plainMarkdown(summary)}`,
    ),
    "",
    `Lists as JSON: [error codes](${folder}codes/index.json), [events](${folder}events/index.json), [specialisms](${folder}specialisms/index.json), [schemas](${folder}schemas/index.json).`,
    "",
  ];
}

/** `llms.txt`: what is here, the newest release first. */
export const llmsText = ({ books, title }: SiteContents): string =>
  [
    `# ${plainMarkdown(title)}`,
    "",
    "> Releases of a protocol between advertising agents: each tool with its request, its answers and valid examples. Texts about tools and fields are the releases' own, quoted.",
    "",
    ...[...books].reverse().flatMap(releaseLines),
  ].join("\n");
