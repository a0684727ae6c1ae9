/** A release as the explorer turns its pages: what is asked of it again and again, looked up once. */
import type { DiffJudge } from "../diff/mend.js";
import type { Atlas } from "../model/atlas.js";
import type { CodeModel, DocumentModel, Model, SpecialismModel, ToolModel } from "../model/model.js";
import { firstSentence } from "../model/sentence.js";
import { eachConditional, eachInside, type Shape } from "../model/shape.js";
import { Places, pathOfFile, segmentOf } from "./address.js";

/** A release that is to be shown, and its schemas as validators. */
export interface ExplorerRelease {
  readonly atlas: Atlas;
  readonly judge: DiffJudge;
}

/** A kind of event, with where the release says so. */
export interface EventEntry {
  readonly kind: string;
  readonly schema: string;
  readonly required: readonly string[];
  readonly discriminator?: string;
  readonly from: string;
  readonly subscribable: boolean;
}

/** Who uses a schema, and for what. */
export interface SchemaUse {
  readonly path: string;
  /** Place in that schema, a JSON pointer. */
  readonly pointer: string;
}

/** What a schema is of a tool. */
export interface MessageOf {
  readonly tool: string;
  /** `request`, `answer`, or the status of an arm. */
  readonly side: string;
}

export interface Book extends ExplorerRelease {
  readonly model: Model;
  /** Folder of its pages from the top of the site, with a `/` at the end. */
  readonly folder: string;
  readonly tools: ReadonlyMap<string, ToolModel>;
  readonly codes: ReadonlyMap<string, CodeModel>;
  readonly specialisms: ReadonlyMap<string, SpecialismModel>;
  readonly documents: ReadonlyMap<string, DocumentModel>;
  readonly events: readonly EventEntry[];
  /** By the schema that is used: the places that refer to it, in code point order. */
  readonly usedBy: ReadonlyMap<string, readonly SchemaUse[]>;
  readonly messages: ReadonlyMap<string, readonly MessageOf[]>;
  /** Paths of pages, without an ending, by kind and name. */
  page(kind: PageKind, name: string): string;
}

export type PageKind = "tools" | "codes" | "specialisms" | "events" | "schemas";

const fileOf = (ref: string): string => ref.split("#")[0]!;

/** The task's envelope is an event too: every webhook about a task is one. */
const TASK_EVENT = "task";

function eventsOf({ facts }: Model): EventEntry[] {
  const { kinds, task, subscribable } = facts.events;
  const open = new Set(subscribable?.value);
  const rows = Object.entries(kinds).map(([kind, { value, from }]) => ({
    kind,
    ...value,
    from,
    subscribable: open.has(kind),
  }));
  const own = task === undefined ? [] : [{ kind: TASK_EVENT, ...task.value, from: task.from, subscribable: false }];
  return [...own, ...rows.filter(({ kind }) => kind !== TASK_EVENT)];
}

/** Every reference of a shape, with where it stands. */
function eachReference(shape: Shape, visit: (to: string, pointer: string) => void, seen = new Set<Shape>()): void {
  if (seen.has(shape)) return;
  seen.add(shape);
  if (shape.kind === "reference") visit(shape.to, shape.pointer);
  eachInside(shape, (inner) => eachReference(inner, visit, seen));
  eachConditional(shape, (inner) => eachReference(inner, visit, seen));
}

function usesOf({ documents }: Model): Map<string, SchemaUse[]> {
  const found = new Map<string, SchemaUse[]>();
  for (const { path, shape } of documents)
    eachReference(shape, (to, at) => {
      const [target, pointer] = [fileOf(to), at.split("#")[1] ?? ""];
      if (target === path) return;
      const uses = found.get(target) ?? [];
      found.set(target, uses);
      if (!uses.some((use) => use.path === path && use.pointer === pointer)) uses.push({ path, pointer });
    });
  return found;
}

function messagesOf(model: Model): Map<string, MessageOf[]> {
  const found = new Map<string, MessageOf[]>();
  const put = (ref: string | undefined, tool: string, side: string): void => {
    if (ref === undefined || ref.includes("#")) return;
    found.set(ref, [...(found.get(ref) ?? []), { tool, side }]);
  };
  for (const { name, request, response, arms } of model.tools) {
    put(request, name, "request");
    put(response, name, "completed");
    for (const { status, schema } of arms) if (status !== "completed") put(schema, name, status);
  }
  return found;
}

const byName = <T>(list: readonly T[], name: (one: T) => string): Map<string, T> =>
  new Map(list.map((one) => [name(one), one]));

export function openBook({ atlas, judge }: ExplorerRelease): Book {
  const { model } = atlas;
  const folder = `${segmentOf(model.word)}/${segmentOf(model.version)}/`;
  const events = eventsOf(model);
  const places = new Places();
  const names: [PageKind, readonly string[]][] = [
    ["tools", model.tools.map(({ name }) => name)],
    ["codes", model.codes.map(({ code }) => code)],
    ["specialisms", model.specialisms.map(({ id }) => id)],
    ["events", events.map(({ kind }) => kind)],
    ["schemas", model.documents.map(({ path }) => path)],
  ];
  const pages = new Map(
    names.flatMap(([kind, list]) =>
      list.map((name): [string, string] => {
        const file = kind === "schemas" ? pathOfFile(name) : segmentOf(name);
        return [`${kind} ${name}`, places.place(`${folder}${kind}/${file}`)];
      }),
    ),
  );
  return {
    atlas,
    judge,
    model,
    folder,
    events,
    tools: byName(model.tools, ({ name }) => name),
    codes: byName(model.codes, ({ code }) => code),
    specialisms: byName(model.specialisms, ({ id }) => id),
    documents: byName(model.documents, ({ path }) => path),
    usedBy: usesOf(model),
    messages: messagesOf(model),
    page: (kind, name) => pages.get(`${kind} ${name}`)!,
  };
}

/** The first sentence of what a schema says of itself. */
export const aboutSchema = ({ shape }: DocumentModel): string => firstSentence(shape.description ?? shape.title ?? "");

/** The page that shows a schema: a tool's where it is one of its messages, else its own. */
export const pageOfSchema = (book: Book, ref: string): string | undefined => {
  const file = fileOf(ref);
  return book.documents.has(file) ? book.page("schemas", file) : undefined;
};
