/** Authorizations that are in effect for a time: those that change, and what they cover then. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { EdgeRow } from "./registry-publishers.js";

/** What an edge covers at a time. */
export type EffectState = Pick<EdgeRow, "countries" | "wide" | "covered" | "coverage" | "changes_at">;

export type EffectRow = EffectState & Pick<EdgeRow, "publisher" | "source" | "agent" | "claimant">;

export interface ChangingRow {
  readonly publisher: number;
  readonly property_count: number;
  /** Of the entries that are read for it, in bytes: of what changes, and of all that its file says, to tell it by the feed. */
  readonly bytes: number;
}

/** Publishers with edges that change by a time, in unix milliseconds. */
export const publishersChanging = (q: Query, by: number, limit: number): Coroutine<ChangingRow[]> =>
  q.rows(
    "select d.publisher, p.property_count, (select sum(octet_length(e.entries)) from adbind_registry_authorizations e " +
      "where e.publisher = d.publisher and (e.source <> 'agent_claim' or e.changes_at <= ?)) as bytes from (select distinct publisher from (" +
      "select publisher from adbind_registry_authorizations where changes_at <= ? order by changes_at limit ?) as due) d " +
      "join adbind_registry_publishers p on p.id = d.publisher order by d.publisher",
    [by, by, limit],
  );

/** Holds publishers until the transaction ends, in the order in which every writer does. */
export function* lockPublishersById(q: Query, ids: readonly number[]): Coroutine<void> {
  if (q.dialect.forUpdate === "") return;
  const text = `select id from adbind_registry_publishers where ${q.dialect.among("id", "bigint")} order by domain${q.dialect.forUpdate}`;
  yield* q.rows(text, [q.dialect.list(ids)]);
}

export const edgesChanging = (q: Query, publishers: readonly number[], by: number): Coroutine<EdgeRow[]> =>
  q.rows(
    `select * from adbind_registry_authorizations where changes_at <= ? and ${q.dialect.among("publisher", "bigint")}`,
    [by, q.dialect.list(publishers)],
  );

/** Changes an edge if it is still there. */
export const putEffect = (q: Query, row: EffectRow): Coroutine<unknown> =>
  q.rows(
    "update adbind_registry_authorizations set countries = ?, wide = ?, covered = ?, coverage = ?, changes_at = ? " +
      "where publisher = ? and source = ? and agent = ? and claimant = ?",
    [
      ...[row.countries, row.wide, row.covered, row.coverage, row.changes_at],
      ...[row.publisher, row.source, row.agent, row.claimant],
    ],
  );
