/** Properties of a publisher in parts: a file may have a hundred thousand. */
import { createHash } from "node:crypto";
import type { PublisherRow } from "../store/registry-publishers.js";
import type { PublisherLookup } from "./types.js";

/** Properties of an answer where nobody says how many, and of those an agent may not sell. */
export const PROPERTIES_LIMIT = 1_000;

/** Where the next properties begin, and of which state of them. */
export interface PropertiesCursor {
  readonly offset: number;
  readonly state: string;
}

export const fileStateOf = (row: PublisherRow | undefined): string =>
  createHash("sha256").update(`${row?.valid} ${row?.digests}`).digest("base64url").slice(0, 12);

export function readPropertiesCursor(text: string): PropertiesCursor | undefined {
  const found = /^(\d{1,9}) ([\w-]{12})$/.exec(Buffer.from(text, "base64url").toString("latin1"));
  return found === null ? undefined : { offset: Number(found[1]), state: found[2]! };
}

/** The part of the properties that is asked for, and what is said of the others. */
export function paged<T>(
  all: readonly T[],
  { offset, limit, state }: { readonly offset: number; readonly limit: number; readonly state: string },
): {
  readonly shown: readonly T[];
  readonly about: Partial<Pick<PublisherLookup, "properties_total" | "properties_cursor">>;
} {
  const shown = all.slice(offset, offset + limit);
  const end = offset + shown.length;
  if (offset === 0 && end === all.length) return { shown, about: {} };
  const next = end < all.length ? Buffer.from(`${end} ${state}`).toString("base64url") : null;
  return { shown, about: { properties_total: all.length, properties_cursor: next } };
}
