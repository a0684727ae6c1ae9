/** The file that is kept of a domain: where it came from, and where the domain points since. Times are unix milliseconds. */

import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

export interface KeptFileRow {
  /** URL of the file; where it was pointed to, as the pointer names it. */
  readonly source: string;
  /** The source is an authoritative location. */
  readonly pointed: number;
  /** Latest `last_updated` that was taken; null where no file gave one. */
  readonly last_updated: number | null;
  /** Another location that is pointed to now, and since when. */
  readonly candidate: string | null;
  readonly candidate_since: number | null;
}

const columns = "source, pointed, last_updated, candidate, candidate_since";

/** Undefined where nothing is kept: a file not valid so far, or one that has ended, binds nobody. */
export function* keptFile(q: Query, domain: string): Coroutine<KeptFileRow | undefined> {
  const [publisher] = yield* q.rows<{ method: string | null; resolved_url: string | null }>(
    "select method, resolved_url from adbind_registry_publishers where domain = ? and valid = 1",
    [domain],
  );
  if (publisher === undefined) return undefined;
  const [row] = yield* q.rows<KeptFileRow>(`select ${columns} from adbind_crawl_files where domain = ?`, [domain]);
  if (row !== undefined) return row;
  // One that came by an import: its location is known, and counts.
  const { method, resolved_url: source } = publisher;
  if (method !== "authoritative_location" || source === null) return undefined;
  return { source, pointed: 1, last_updated: null, candidate: null, candidate_since: null };
}

/** Is there a valid file of the domain, or one that was valid last? */
export function* isKept(q: Query, domain: string): Coroutine<boolean> {
  return (
    (yield* q.rows("select domain from adbind_registry_publishers where domain = ? and valid = 1", [domain])).length > 0
  );
}

export const putFile = (q: Query, domain: string, row: KeptFileRow): Coroutine<unknown> =>
  q.rows(
    `insert into adbind_crawl_files (domain, ${columns}) values (?, ?, ?, ?, ?, ?) on conflict (domain) do update set ` +
      "source = excluded.source, pointed = excluded.pointed, last_updated = excluded.last_updated, " +
      "candidate = excluded.candidate, candidate_since = excluded.candidate_since",
    [domain, row.source, row.pointed, row.last_updated, row.candidate, row.candidate_since],
  );

/**
 * What is held back of a domain is taken at its next crawl: the location it points to, and a file older than the one kept.
 * @returns false where nothing is kept that could hold anything back
 */
export function* acceptFile(q: Query, domain: string): Coroutine<boolean> {
  const rows = yield* q.rows(
    "update adbind_crawl_files set candidate_since = 0, last_updated = null where domain = ? returning domain",
    [domain],
  );
  return rows.length > 0;
}
