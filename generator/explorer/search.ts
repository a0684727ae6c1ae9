/** The search: an index of every page of a release, made here and loaded by the page that searches. */
import MiniSearch, { type Options } from "minisearch";
import { firstSentence } from "../model/sentence.js";
import { eachInside, type Shape } from "../model/shape.js";
import type { Book } from "./book.js";

interface Entry {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
  readonly title: string;
  /** Names of its fields. */
  readonly fields: string;
  readonly text: string;
  /** Its page from the release's folder. */
  readonly page: string;
  readonly about: string;
}

/** Words that stand everywhere and tell nothing. */
const stopWords = new Set(
  "a an and any are as at be by can for from has have if in into is it its may must no not of on or should so such than that the their them then there these they this to was when where which who will with".split(
    " ",
  ),
);

/** Characters of what a result shows beside its name. */
const ABOUT = 160;

/** Letters after which a word says no more: hashes and long examples would fill the index. */
const LONGEST_WORD = 32;

/**
 * What the index and the page that reads it agree on; the words must be parted alike in both, so the page has the same
 * rule (templates/explorer/explorer.js).
 */
const options: Options<Entry> = {
  fields: ["name", "title", "fields", "text"],
  storeFields: ["kind", "name", "page", "about"],
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ""),
  processTerm: (term) => {
    const word = term.toLowerCase();
    return stopWords.has(word) || word.length > LONGEST_WORD ? null : word;
  },
};

/** Field names and descriptions of a shape, however deep; what it refers to has a page of its own. */
function wordsOf(shape: Shape): { names: Set<string>; texts: string[] } {
  const [names, texts] = [new Set<string>(), [] as string[]];
  const seen = new Set<Shape>();
  const visit = (one: Shape): void => {
    if (seen.has(one)) return;
    seen.add(one);
    if (one.kind === "object") for (const { name } of one.properties) names.add(name);
    if (one.kind === "enum") texts.push(...one.values.filter((value) => typeof value === "string"));
    for (const text of [one.title, one.description, ...Object.values(one.kind === "enum" ? (one.meanings ?? {}) : {})])
      if (text !== undefined) texts.push(text);
    eachInside(one, visit);
  };
  visit(shape);
  return { names, texts };
}

const shortened = (text: string): string => {
  const sentence = firstSentence(text);
  return sentence.length <= ABOUT ? sentence : `${sentence.slice(0, ABOUT - 3)}...`;
};

type Found = Omit<Entry, "id">;

function toolEntries(book: Book): Found[] {
  return book.model.tools.map(({ name, request, response, protocol, summary }) => {
    const said = [request, response].map((ref) => wordsOf(book.model.resolve(ref)!));
    return {
      kind: "tool",
      name,
      title: protocol,
      fields: said.flatMap(({ names }) => [...names]).join(" "),
      text: said.flatMap(({ texts }) => texts).join(" "),
      page: book.page("tools", name),
      about: shortened(summary),
    };
  });
}

function schemaEntries(book: Book): Found[] {
  // A message of a tool is found at the tool.
  const own = book.model.documents.filter(({ path }) => !book.messages.has(path));
  return own.map(({ path, shape }) => {
    const { names, texts } = wordsOf(shape);
    return {
      kind: "schema",
      name: path.replace(/\.json$/, ""),
      title: shape.title ?? "",
      fields: [...names].join(" "),
      text: texts.join(" "),
      page: book.page("schemas", path),
      about: shortened(shape.description ?? shape.title ?? ""),
    };
  });
}

const otherEntries = (book: Book): Found[] => [
  ...book.model.codes.map(({ code, description, suggestion, recovery }) => ({
    kind: "error",
    name: code,
    title: recovery,
    fields: "",
    text: `${description} ${suggestion}`,
    page: book.page("codes", code),
    about: shortened(description),
  })),
  ...book.events.map(({ kind, schema }) => ({
    kind: "event",
    name: kind,
    title: "webhook",
    fields: "",
    text: book.documents.get(schema)?.shape.description ?? "",
    page: book.page("events", kind),
    about: shortened(book.documents.get(schema)?.shape.description ?? ""),
  })),
  ...book.model.specialisms.map(({ id, title, protocol, exercised }) => ({
    kind: "specialism",
    name: id,
    title: title ?? "",
    fields: "",
    text: `${protocol} ${exercised.join(" ")}`,
    page: book.page("specialisms", id),
    about: title ?? "",
  })),
];

/** The index as JSON, and the words that it leaves out. */
export function searchIndex(book: Book): { readonly stopWords: readonly string[]; readonly index: object } {
  const index = new MiniSearch<Entry>(options);
  const entries = [...toolEntries(book), ...otherEntries(book), ...schemaEntries(book)];
  index.addAll(entries.map((entry, id) => ({ ...entry, id, page: entry.page.slice(book.folder.length) })));
  return { stopWords: [...stopWords].sort(), index: index.toJSON() };
}
