/** Pages of the API: an entry of the package each, every name it exports with what its docstring says. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Docstring, declaredMembers, docstringOf, memberBehind, signatureOf } from "./declaration.js";
import { type Exported, exportsOf, type ParsedSources, parsedSources } from "./exports.js";
import { asMarkdown, cell, type ReferencePage, referencePage, tableOf } from "./page.js";

/** Longest type shown in a table, in characters; the source has the rest. */
const LONGEST_TYPE = 160;

/** From a page of the API to docs/. */
const UP = "../../";

interface Entry {
  /** As it is imported: `adbind/receiver`. */
  readonly name: string;
  readonly file: string;
}

/** Where a package.json of ours stands, the light package's first. */
const PLACES = [".", "cli"];

const entriesOf = (root: string): Entry[] => PLACES.flatMap((place) => entriesAt(root, place));

function entriesAt(root: string, place: string): Entry[] {
  const { name, exports } = JSON.parse(readFileSync(path.join(root, place, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | Record<string, string>>;
  };
  return Object.entries(exports).flatMap(([entry, target]) => {
    const file = typeof target === "string" ? undefined : target["adbind-source"];
    return file === undefined ? [] : [{ name: `${name}${entry.slice(1)}`, file: path.posix.join(place, file) }];
  });
}

export interface Undocumented {
  readonly entry: string;
  readonly file: string;
  readonly name: string;
}

/** Exports without a docstring, each once, however many entries have it. */
export function undocumented(root: string, sources: ParsedSources = parsedSources(root)): Undocumented[] {
  const found = new Map<string, Undocumented>();
  for (const { name: entry, file } of entriesOf(root))
    for (const one of exportsOf(sources, file))
      if (docstringOf(memberBehind(sources, one)) === undefined)
        found.set(`${one.file}:${one.name}`, { entry, file: one.file, name: one.name });
  return [...found.values()];
}

const shortened = (type: string): string => (type.length > LONGEST_TYPE ? `${type.slice(0, LONGEST_TYPE - 1)}…` : type);

function saidOf(docstring: Docstring | undefined): string[] {
  if (docstring === undefined) return [];
  const items = [
    ...docstring.params.map(({ name, text }) => `- \`${name}\`: ${asMarkdown(text, UP)}`),
    ...(docstring.returns === undefined ? [] : [`- returns ${asMarkdown(docstring.returns, UP)}`]),
    ...docstring.throws.map((text) => `- throws ${asMarkdown(text, UP)}`),
  ];
  const text = docstring.text === "" ? [] : [asMarkdown(docstring.text, UP), ""];
  return [...text, ...(items.length === 0 ? [] : [...items, ""])];
}

function memberRows(nodes: Exported["nodes"]): string[] {
  const members = nodes.flatMap((node) => declaredMembers(node));
  if (members.length === 0) return [];
  const rows = members.map(({ name, type, docstring }) => {
    const said = [docstring?.text ?? "", ...(docstring?.params ?? []).map((one) => `\`${one.name}\`: ${one.text}`)];
    if (docstring?.returns !== undefined) said.push(`Returns ${docstring.returns}`);
    const text = said.filter((one) => one !== "").join(" ");
    return [`\`${name}\``, `\`${shortened(type)}\``, asMarkdown(text, UP)];
  });
  return [...tableOf(["member", "type", ""], rows), ""];
}

function sectionOf(sources: ParsedSources, exported: Exported): string[] {
  const nodes = memberBehind(sources, exported);
  const signatures = [...new Set(nodes.map(signatureOf))];
  return [
    `## ${exported.name}`,
    "",
    "```ts",
    ...signatures,
    "```",
    "",
    ...saidOf(docstringOf(nodes)),
    ...memberRows(nodes),
    `Source: \`${exported.file}\``,
    "",
  ];
}

/** The comment at the head of an entry's file. */
function headOf(sources: ParsedSources, file: string): string {
  const found = /^\/\*\*([\s\S]*?)\*\//.exec(sources.file(file).text)?.[1] ?? "";
  return found
    .replace(/^ *\* ?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

const slugOf = ({ name }: Entry): string =>
  name === "adbind-cli" ? "generator" : name.replace(/^adbind(-cli)?\//, "").replace("/", "-");

/** All pages of the API, the list of entries first. */
export function apiReference(root: string): ReferencePage[] {
  const sources = parsedSources(root);
  const entries = entriesOf(root);
  const pages = entries.map((entry) => {
    const found = exportsOf(sources, entry.file);
    const lines = [asMarkdown(headOf(sources, entry.file), UP), "", ...found.flatMap((one) => sectionOf(sources, one))];
    return referencePage(`api/${slugOf(entry)}.md`, entry.name, lines);
  });
  const rows = entries.map(
    (entry) =>
      `| [\`${entry.name}\`](${slugOf(entry)}.md) | ${exportsOf(sources, entry.file).length} | ${cell(asMarkdown(headOf(sources, entry.file), UP))} |`,
  );
  const list = [
    "Every entry of both packages, with all that it exports.",
    "",
    "| entry | names | |",
    "| --- | --- | --- |",
    ...rows,
  ];
  return [referencePage("api/index.md", "API", list), ...pages];
}
