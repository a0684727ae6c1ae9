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

/** What is said of the properties that a part leaves out. */
export function aboutPart({
  offset,
  shown,
  total,
  state,
}: {
  readonly offset: number;
  readonly shown: number;
  readonly total: number;
  readonly state: string;
}): Partial<Pick<PublisherLookup, "properties_total" | "properties_cursor">> {
  const end = offset + shown;
  if (offset === 0 && end === total) return {};
  const next = end < total ? Buffer.from(`${end} ${state}`).toString("base64url") : null;
  return { properties_total: total, properties_cursor: next };
}
