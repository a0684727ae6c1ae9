/** What edges cover at a time. */
import type { EdgeFacts } from "../store/registry-lookups.js";
import { activeAt, type StoredEntry } from "./project.js";

/** What the entries of an edge cover at a time; null is all, undefined that none of them is in effect. */
export function coverage(edge: { readonly entries: string }, now: number): ReadonlySet<string> | null | undefined {
  const active = (JSON.parse(edge.entries) as StoredEntry[]).filter((entry) => activeAt(entry, now));
  if (active.length === 0) return undefined;
  if (active.some(({ covers }) => covers === null)) return null;
  return new Set(active.flatMap(({ covers }) => covers!));
}

/** An edge as it is at a time: where that has come and nobody has worked it out yet, by its entries. */
export function factsIn(edge: EdgeFacts, now: number): EdgeFacts {
  if (edge.entries === null) return edge;
  const covered = coverage({ entries: edge.entries }, now);
  const wide = covered === null ? 1 : 0;
  return { ...edge, wide, covered: covered?.size ?? 0, stands: covered === undefined ? 0 : 1, entries: null };
}
