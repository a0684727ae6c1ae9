/** Releases side by side in time: what each brought, and where a thing is found in the others. */
import type { Book, PageKind } from "./book.js";
import type { Presence } from "./pages/tool.js";

export interface Brought {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A release, and what it brought against the one before it in the site. */
export interface TimelineEntry {
  readonly word: string;
  readonly version: string;
  /** The day it was made, as its manifest says. */
  readonly made: string;
  readonly digest: string;
  readonly counts: {
    readonly tools: number;
    readonly events: number;
    readonly codes: number;
    readonly specialisms: number;
    readonly schemas: number;
  };
  /** Bytes of a list of all its tools, described. */
  readonly listing: number;
  /** The release that it is compared with; absent for the first of its word. */
  readonly before?: string;
  readonly tools: Brought;
  readonly deprecated: readonly string[];
  readonly events: Brought;
  readonly codes: Brought;
  readonly specialisms: Brought;
}

const brought = (before: readonly string[] | undefined, now: readonly string[]): Brought => ({
  added: before === undefined ? [] : now.filter((one) => !before.includes(one)).sort(),
  removed: (before ?? []).filter((one) => !now.includes(one)).sort(),
});

const names = ({ model, events }: Book) => ({
  tools: model.tools.map(({ name }) => name),
  deprecated: model.tools.flatMap(({ name, deprecatedIn }) => (deprecatedIn === undefined ? [] : [name])),
  events: events.map(({ kind }) => kind),
  codes: model.codes.map(({ code }) => code),
  specialisms: model.specialisms.map(({ id }) => id),
});

function entryOf(book: Book, before: Book | undefined): TimelineEntry {
  const { model, events, atlas } = book;
  const [now, old] = [names(book), before && names(before)];
  return {
    word: model.word,
    version: model.version,
    made: model.generatedAt.slice(0, 10),
    digest: model.digest,
    counts: {
      tools: model.tools.length,
      events: events.length,
      codes: model.codes.length,
      specialisms: model.specialisms.length,
      schemas: model.documents.length,
    },
    listing: [...atlas.listings.values()].reduce((sum, { described }) => sum + described, 0),
    ...(before !== undefined && { before: before.model.version }),
    tools: brought(old?.tools, now.tools),
    deprecated: brought(old?.deprecated, now.deprecated).added,
    events: brought(old?.events, now.events),
    codes: brought(old?.codes, now.codes),
    specialisms: brought(old?.specialisms, now.specialisms),
  };
}

/** @param books oldest first */
export const timelineOf = (books: readonly Book[]): TimelineEntry[] =>
  books.map((book, index) =>
    entryOf(
      book,
      books.slice(0, index).findLast(({ model }) => model.word === book.model.word),
    ),
  );

/** The page of the same thing in another release. */
export const sameIn = (other: Book, kind: PageKind, name: string): string | undefined => other.page(kind, name);

/** In which releases of a word something is. */
export const presenceOf = (books: readonly Book[], book: Book, kind: PageKind, name: string): Presence[] =>
  books
    .filter(({ model }) => model.word === book.model.word)
    .map((other) => {
      const page = sameIn(other, kind, name);
      return { version: other.model.version, ...(page !== undefined && { page }) };
    });
