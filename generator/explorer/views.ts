/** What each page of a release says, as data: the page is printed from it, and it lies beside the page as JSON. */
import type { Shape } from "../model/shape.js";
import { aboutSchema, type Book, type EventEntry, type MessageOf, type SchemaUse } from "./book.js";
import { type Example, examplesOf } from "./example.js";
import { type FieldTable, fieldTable } from "./fields.js";

/** A message of a tool: what may stand in it, and an example. */
export interface MessageView {
  readonly schema: string;
  readonly fields: FieldTable;
  readonly examples: readonly Example[];
}

export interface ToolView {
  readonly name: string;
  readonly area: string;
  readonly about: string;
  readonly mutating: boolean;
  readonly idempotency: string;
  readonly addedIn?: string;
  readonly deprecatedIn?: string;
  readonly supersededBy?: readonly string[];
  readonly fallback?: { readonly tool?: string; readonly mode: string };
  readonly specialisms: readonly string[];
  /** Specialisms that need it without exercising it. */
  readonly neededBy: readonly string[];
  /** Bytes of its entry in a tool list. */
  readonly listing: {
    readonly described: number;
    readonly bare: number;
    readonly answer: number;
    readonly projections: Readonly<Record<string, number>>;
  };
  readonly request: MessageView;
  readonly arms: readonly (
    | ({ readonly status: string } & MessageView)
    | { readonly status: string; readonly carries: "failure" | "nothing told" }
  )[];
  /** Names that an answer with errors may have beside them. */
  readonly failureFields: readonly string[];
  /** Codes that its schemas name. */
  readonly codes: readonly string[];
}

const shapeAt = (book: Book, ref: string): Shape => book.model.resolve(ref)!;

function messageView(book: Book, ref: string, shape = shapeAt(book, ref)): MessageView {
  const { resolve } = book.model;
  return {
    schema: ref,
    fields: fieldTable(shape, resolve, true),
    examples: examplesOf({ ref, resolve, judge: book.judge }),
  };
}

/** Words of a text that are codes of the release. */
const codesIn = (book: Book, text: string): string[] =>
  [...new Set(text.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [])].filter((code) => book.codes.has(code)).sort();

const textOf = (shape: unknown): string => JSON.stringify(shape);

export function lookUpTool(book: Book, name: string): ToolView {
  const tool = book.tools.get(name)!;
  const route = book.model.facts.tools.routes[name]?.value;
  const request = messageView(book, tool.request);
  const needed = [...book.atlas.needs].filter(([, tools]) => tools.includes(name)).map(([id]) => id);
  return {
    name,
    area: tool.protocol,
    about: shapeAt(book, tool.request).description ?? "",
    mutating: tool.mutating,
    idempotency: tool.idempotency,
    ...(tool.addedIn !== undefined && { addedIn: tool.addedIn }),
    ...(tool.deprecatedIn !== undefined && { deprecatedIn: tool.deprecatedIn }),
    ...(route?.supersededBy !== undefined && { supersededBy: route.supersededBy }),
    ...(route?.fallback !== undefined && { fallback: route.fallback }),
    specialisms: tool.specialisms,
    neededBy: needed.filter((id) => !tool.specialisms.includes(id)),
    listing: book.atlas.listings.get(name)!,
    request,
    arms: tool.arms.map(({ status, schema, carries, shape }) => {
      if (carries === "failure") return { status, carries };
      if (schema === undefined) return { status, carries: "nothing told" as const };
      return { status, ...messageView(book, schema, shape) };
    }),
    failureFields: tool.failureFields ?? [],
    codes: codesIn(book, textOf([tool.request, tool.response].map((ref) => shapeAt(book, ref)))),
  };
}

export interface SchemaView {
  readonly path: string;
  readonly title?: string;
  readonly about?: string;
  /** Absent of a message of a tool: the tool's page has them. */
  readonly fields?: FieldTable;
  readonly examples?: readonly Example[];
  /** Messages of tools that it is. */
  readonly messages: readonly MessageOf[];
  readonly events: readonly string[];
  readonly usedBy: readonly SchemaUse[];
  /** Parts of it that something refers to. */
  readonly parts: readonly { readonly ref: string; readonly fields: FieldTable }[];
}

export function lookUpSchema(book: Book, path: string): SchemaView {
  const { shape } = book.documents.get(path)!;
  const { resolve, places } = book.model;
  // What stands below a property is in the table already.
  const parts = places.filter((ref) => ref.startsWith(`${path}#/$defs/`) || ref.startsWith(`${path}#/definitions/`));
  const messages = book.messages.get(path) ?? [];
  return {
    path,
    ...(shape.title !== undefined && { title: shape.title }),
    ...(shape.description !== undefined && { about: shape.description }),
    ...(messages.length === 0 && {
      fields: fieldTable(shape, resolve),
      examples: examplesOf({ ref: path, resolve, judge: book.judge }),
    }),
    messages,
    events: book.events.filter(({ schema }) => schema === path).map(({ kind }) => kind),
    usedBy: book.usedBy.get(path) ?? [],
    parts: parts.map((ref) => ({ ref, fields: fieldTable(resolve(ref)!, resolve) })),
  };
}

export interface CodeView {
  readonly code: string;
  readonly recovery: string;
  readonly description: string;
  readonly suggestion: string;
  readonly addedIn?: string;
  /** Schemas and other codes that speak of it. */
  readonly mentions: {
    readonly tools: readonly string[];
    readonly schemas: readonly string[];
    readonly codes: readonly string[];
  };
}

/** Which schemas speak of which code: one walk through all of them. */
export function codeMentions(book: Book): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { path, shape } of book.model.documents)
    for (const code of codesIn(book, textOf(shape))) found.set(code, [...(found.get(code) ?? []), path]);
  return found;
}

export function lookUpCode(book: Book, code: string, mentions: ReadonlyMap<string, readonly string[]>): CodeView {
  const { recovery, description, suggestion, addedIn } = book.codes.get(code)!;
  const schemas = mentions.get(code) ?? [];
  const tools = new Set(schemas.flatMap((path) => (book.messages.get(path) ?? []).map(({ tool }) => tool)));
  return {
    code,
    recovery,
    description,
    suggestion,
    ...(addedIn !== undefined && { addedIn }),
    mentions: {
      tools: [...tools].sort(),
      schemas: schemas.filter((path) => !book.messages.has(path)),
      codes: codesIn(book, `${description} ${suggestion}`).filter((one) => one !== code),
    },
  };
}

export interface EventView extends EventEntry {
  readonly about: string;
  readonly fields: FieldTable;
  readonly examples: readonly Example[];
}

export function lookUpEvent(book: Book, entry: EventEntry): EventView | undefined {
  const shape = book.model.resolve(entry.schema);
  if (shape === undefined) return undefined;
  const { fields, examples } = messageView(book, entry.schema, shape);
  const kinds = examples.filter(
    ({ value }) =>
      entry.discriminator === undefined ||
      typeof value !== "object" ||
      value === null ||
      Array.isArray(value) ||
      value[entry.discriminator] === entry.kind,
  );
  return { ...entry, about: shape.description ?? "", fields, examples: kinds.length > 0 ? kinds : examples };
}

export interface SpecialismView {
  readonly id: string;
  readonly title?: string;
  readonly area: string;
  /** Who is meant: those who call its tools, or those who answer them. */
  readonly role: string;
  readonly tools: readonly {
    readonly name: string;
    readonly about: string;
    readonly why: "entry point" | "exercised" | "needed beside";
    readonly mutating: boolean;
    readonly idempotency: string;
    /** Statuses that it may answer with. */
    readonly arms: readonly string[];
  }[];
  /** Steps of its tests that are no tools. */
  readonly harness: readonly string[];
}

export function lookUpSpecialism(book: Book, id: string): SpecialismView {
  const { title, protocol, entryPoints, exercised, harness } = book.specialisms.get(id)!;
  const why = (name: string): SpecialismView["tools"][number]["why"] =>
    entryPoints.includes(name) ? "entry point" : exercised.includes(name) ? "exercised" : "needed beside";
  const names = [...new Set([...(book.atlas.needs.get(id) ?? []), ...exercised, ...entryPoints])].filter((name) =>
    book.tools.has(name),
  );
  const order = ["entry point", "exercised", "needed beside"];
  return {
    id,
    ...(title !== undefined && { title }),
    area: protocol,
    role: book.model.facts.roles[id]?.value ?? "seller",
    tools: names
      .sort((a, b) => order.indexOf(why(a)) - order.indexOf(why(b)) || (a < b ? -1 : 1))
      .map((name) => {
        const { summary, mutating, idempotency, arms } = book.tools.get(name)!;
        return { name, about: summary, why: why(name), mutating, idempotency, arms: arms.map(({ status }) => status) };
      }),
    harness,
  };
}

export interface SchemaListView {
  readonly folders: readonly {
    readonly folder: string;
    readonly schemas: readonly { readonly path: string; readonly about: string; readonly uses: number }[];
  }[];
  readonly unreadable: readonly { readonly path: string; readonly because: string }[];
}

export function listSchemas(book: Book): SchemaListView {
  const folders = new Map<string, SchemaListView["folders"][number]["schemas"][number][]>();
  for (const document of book.model.documents) {
    const folder = document.path.split("/").slice(0, -1).join("/");
    const row = {
      path: document.path,
      about: aboutSchema(document),
      uses: book.usedBy.get(document.path)?.length ?? 0,
    };
    folders.set(folder, [...(folders.get(folder) ?? []), row]);
  }
  return {
    folders: [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, schemas]) => ({ folder, schemas })),
    unreadable: book.atlas.unreadable,
  };
}
