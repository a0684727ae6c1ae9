/** Agent search by PostgreSQL itself: the same order, the same cursors and answers as the index in memory. */
import { setTimeout as pause } from "node:timers/promises";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { clock } from "../../store/registry-clock.js";
import { profilesAfter } from "../../store/registry-profiles.js";
import {
  keepsSearch,
  putSearchRows,
  type SearchCondition,
  searchCount,
  searchPairs,
  searchRows,
  searchState,
  searchValues,
  setSearchState,
  tellMark,
  tokenOf,
  toldMark,
} from "../../store/registry-search.js";
import type { Facets, MarketMap } from "../page-types.js";
import { SEARCH_DIMENSIONS, type SearchDimension, type SearchFilters } from "../types.js";
import { formatCursor, parseCursor } from "./cursor.js";
import { TOLD_VALUES } from "./facets.js";
import { type AgentSearch, profileOfFound } from "./search.js";

/** Profiles written at a time when the table is made. */
const FILL_ROWS = 1_000;
/** Agents looked at for counts: some seconds of the database's work at most. */
const COUNTED_ROWS = 1_000_000;
/** How long a copy of the database is waited for that is behind a cursor, in milliseconds. */
const BEHIND_MS = 2_000;

export interface DatabaseSearchOptions {
  /** Where profiles are written. */
  readonly store: Database;
  /** A copy of it that is asked instead; it may be behind. */
  readonly copy?: Database | undefined;
  readonly discovered: boolean;
}

function conditionOf(filters: SearchFilters, discovered: boolean, without?: SearchDimension): SearchCondition {
  const least = filters.min_properties ?? 0;
  const tokens = SEARCH_DIMENSIONS.flatMap((name, dimension) => {
    const values = name === without ? [] : (filters[name] ?? []);
    return values.length === 0 ? [] : [values.map((value) => tokenOf(dimension, value))];
  });
  return {
    tokens,
    hasTmp: filters.has_tmp === true,
    registered: !discovered,
    leastProperties: least,
    // As the score follows the number of properties.
    leastScore: 0.1 * Math.log(least + 1) - 1e-9,
  };
}

/** Makes the table complete, once for all instances; what is written meanwhile keeps itself. */
async function fill(store: Database): Promise<void> {
  if ((await store.query((q) => searchState(q))) === 2) return;
  await store.write((q) => setSearchState(q, 1));
  // Transactions that took their number before do not know of it yet.
  const { last } = await store.query((q) => clock(q));
  while ((await store.query((q) => clock(q))).seq < last) await pause(20);
  for (let after = 0; ; ) {
    const rows = await store.query((q) => profilesAfter(q, after, FILL_ROWS));
    await store.write((q) => putSearchRows(q, rows));
    if (rows.length < FILL_ROWS) break;
    after = rows.at(-1)!.agent;
  }
  await store.write((q) => setSearchState(q, 2));
}

function* facetsOf(
  q: Query,
  filters: SearchFilters,
  discovered: boolean,
): Generator<Promise<unknown>, Facets, unknown> {
  const values: [SearchDimension, Facets["values"][SearchDimension]][] = [];
  for (const [dimension, name] of SEARCH_DIMENSIONS.entries()) {
    const about = { dimension, rows: COUNTED_ROWS, limit: TOLD_VALUES };
    values.push([name, yield* searchValues(q, conditionOf(filters, discovered, name), about)]);
  }
  const { total } = yield* searchCount(q, conditionOf(filters, discovered), COUNTED_ROWS);
  const { has_tmp: _, ...others } = filters;
  const { tmp } = yield* searchCount(q, conditionOf(others, discovered), COUNTED_ROWS);
  return { total, has_tmp: tmp, values: Object.fromEntries(values) as unknown as Facets["values"] };
}

/** @param limit most markets */
function* marketMapOf(
  q: Query,
  wanted: SearchCondition,
  limit: number,
): Generator<Promise<unknown>, MarketMap, unknown> {
  const of = [SEARCH_DIMENSIONS.indexOf("channels"), SEARCH_DIMENSIONS.indexOf("markets")] as const;
  const values = { rows: COUNTED_ROWS, limit: TOLD_VALUES };
  const channels = (yield* searchValues(q, wanted, { ...values, dimension: of[0] })).map(({ value }) => value);
  const markets = (yield* searchValues(q, wanted, { ...values, dimension: of[1], limit })).map(({ value }) => value);
  const pairs = yield* searchPairs(q, wanted, { rows: COUNTED_ROWS, of });
  const counts = new Map(pairs.map(({ a, b, count }) => [`${a} ${b}`, count]));
  return {
    channels,
    markets,
    counts: channels.map((channel) => markets.map((market) => counts.get(`${channel} ${market}`) ?? 0)),
  };
}

interface Mark {
  readonly seq: number;
  readonly last: number;
  readonly pruned: number;
}

const behind = (copy: Database): AdbindError =>
  new AdbindError("database_busy", "the copy of the database that searches ask is behind", {
    where: copy.where,
    remedy: "ask again soon; where it stays behind, see to its replication",
  });

/** Waits until a copy has the table as it was made. @throws AdbindError `database_busy` where it is behind for longer */
async function copied(copy: Database): Promise<void> {
  for (const until = Date.now() + BEHIND_MS; (await copy.query((q) => searchState(q))) !== 2; await pause(50))
    if (Date.now() > until) throw behind(copy);
}

/** Makes the table, and waits for the copy of it, until both have been done once. */
function readyOnce(store: Database, copy: Database | undefined): () => Promise<void> {
  const made = async (): Promise<void> => {
    await fill(store);
    if (copy !== undefined) await copied(copy);
  };
  let ready: Promise<void> | undefined;
  return async () => {
    ready ??= made().catch((error: Error) => {
      ready = undefined;
      throw error;
    });
    await ready;
  };
}

/** How far a copy is, once that is far enough or it was waited for. */
async function markOfCopy(copy: Database, wanted: number): Promise<Mark> {
  for (const until = Date.now() + BEHIND_MS; ; await pause(50)) {
    const { seq, pruned } = await copy.query((q) => toldMark(q));
    if (seq >= wanted || Date.now() > until) return { seq, last: seq, pruned };
  }
}

/**
 * Besides what the database says, answers fail with `database_busy` while a copy has not got so far as they need.
 * @throws AdbindError `registry_option_invalid` on an engine other than PostgreSQL
 */
export function databaseSearch({ store, copy, discovered }: DatabaseSearchOptions): AgentSearch {
  if (!keepsSearch(store.dialect))
    throw new AdbindError("registry_option_invalid", "only PostgreSQL can answer searches itself", {
      where: `search of ${store.where}`,
      remedy: "leave the search in memory, or give a store on PostgreSQL",
    });
  const asked = copy ?? store;
  const ready = readyOnce(store, copy);
  const mark = async (wanted = 0): Promise<Mark> =>
    copy === undefined ? store.query((q) => clock(q)) : markOfCopy(copy, wanted);
  return {
    warm: ready,
    async tellMark() {
      const { seq } = await store.query((q) => clock(q));
      await store.write((q) => tellMark(q, seq));
    },
    async search(filters, { cursor, limit }) {
      const position = cursor === undefined ? undefined : parseCursor(cursor);
      if (cursor !== undefined && position === undefined) return { ok: false, reason: "cursor_invalid" };
      // It waits for parts of an index that is no index in parts here.
      if (position?.waiting !== undefined) return { ok: false, reason: "cursor_expired" };
      await ready();
      // Asked before the statement takes its state of the database, so that all up to it is there.
      const { seq, last, pruned } = await mark(position?.seq);
      if (position !== undefined && position.seq > last) {
        if (copy !== undefined && position.seq <= (await store.query((q) => clock(q))).last) throw behind(copy);
        return { ok: false, reason: "cursor_invalid" };
      }
      if (position !== undefined && position.seq < pruned) return { ok: false, reason: "cursor_expired" };
      const begun = position?.seq ?? seq;
      const place = { seq: begun, after: position?.after, limit: limit + 1 };
      const rows = await asked.query((q) => searchRows(q, conditionOf(filters, discovered), place));
      const shown = rows.slice(0, limit);
      const end = rows.length > limit ? shown.at(-1) : undefined;
      const next = end && formatCursor({ seq: begun, after: { score: end.place, url: end.url } });
      const results = shown.map((row) => profileOfFound(row, filters));
      return { ok: true, value: { results, cursor: next ?? null, has_more: end !== undefined } };
    },
    async facets(filters) {
      await ready();
      return asked.read((q) => facetsOf(q, filters, discovered));
    },
    async marketMap(filters, { markets }) {
      await ready();
      return asked.read((q) => marketMapOf(q, conditionOf(filters, discovered), markets));
    },
  };
}
