/** Authorizations that begin or end on a date: what they cover, and with it the agents' profiles, changes by itself then. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import {
  type EffectRow,
  edgesChanging,
  lockPublishersById,
  publishersChanging,
  putEffect,
} from "../store/registry-effect.js";
import { propertiesOf } from "../store/registry-lookups.js";
import type { SetProperty } from "./matching.js";
import { coveredBy, propertyOfRow, type StoredEntry, stateOf } from "./project.js";
import { finish } from "./recompute.js";
import { fitting, PROPERTY_BYTES } from "./weights.js";

/** Edges looked for at a time; those of their publishers that are due go with them, in one transaction. */
const EFFECT_EDGES = 100;

/** Works out again what edges of some publishers cover whose time has come. @returns how many publishers */
function* recomputeSome(q: Query, now: number): Coroutine<number> {
  const changing = yield* publishersChanging(q, now, EFFECT_EDGES);
  const due = fitting(changing, ({ property_count, bytes }) => property_count * PROPERTY_BYTES + bytes).map(
    ({ publisher }) => publisher,
  );
  if (due.length === 0) return 0;
  // As every writer of publishers does, and in the same order: what another instance has recomputed meanwhile is not due any more.
  yield* lockPublishersById(q, due);
  const edges = yield* edgesChanging(q, due, now);
  const parsed = edges.map((edge) => ({ ...edge, entries: JSON.parse(edge.entries) as StoredEntry[] }));
  // Thousands of entries may end one after the other that select none.
  const selecting = parsed.filter(({ entries }) => entries.some(({ covers }) => covers !== null && covers.length > 0));
  const properties = new Map<string, SetProperty>();
  for (const row of yield* propertiesOf(q, [...new Set(selecting.map(({ publisher }) => publisher))]))
    properties.set(`${row.publisher} ${row.source} ${row.key}`, propertyOfRow(row));
  const rows = parsed.map(({ publisher, source, agent, claimant, entries }): EffectRow => {
    const state = stateOf(
      entries,
      coveredBy((key) => properties.get(`${publisher} ${source} ${key}`)),
      now,
    );
    return { publisher, source, agent, claimant, ...state };
  });
  for (const row of rows) yield* putEffect(q, row);
  // Nothing of a publisher changes by what somebody else claims.
  const own = rows.filter(({ source }) => source !== "agent_claim");
  const agents = [...new Set(own.map(({ agent }) => agent))];
  const publishers = [...new Set(own.map(({ publisher }) => publisher))];
  if (rows.length > 0) yield* finish(q, { agents, counts: [], publishers }, now);
  return due.length;
}

/** All that is due, some publishers in each transaction. @see RegistryData.settleEffect */
export async function recomputeEffect(db: Database, now: () => number): Promise<number> {
  for (let recomputed = 0; ; ) {
    if ((await db.query((q) => publishersChanging(q, now(), 1))).length === 0) return recomputed;
    recomputed += await db.write((q) => recomputeSome(q, now()));
  }
}
