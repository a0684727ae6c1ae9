/** Notes which authorizations a transaction changed, so that others can follow. */
import { createHash } from "node:crypto";
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { type FeedRow, feedOf, putFeed, type SaidRow, saidBy } from "../../store/registry-feed.js";
import { activeAt, type StoredEntry } from "../project.js";

/** The type of what names none: a file hosted or imported that lets an agent sell all the publisher has. */
export const typeOf = ({ authorizationType }: StoredEntry): string => authorizationType ?? "publisher_properties";

/** Entries of an edge that are in effect. */
export const activeEntries = (entries: string, now: number): StoredEntry[] =>
  (JSON.parse(entries) as StoredEntry[]).filter((entry) => activeAt(entry, now));

interface Now {
  readonly types: readonly string[];
  readonly digest: string;
}

const short = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);

function nowOf({ source, entries }: SaidRow, now: number): Now | undefined {
  const active = activeEntries(entries, now);
  if (active.length === 0) return undefined;
  // An entry that another one was put before says what it said.
  const said = active.map(({ place: _, ...entry }) => entry);
  return { types: [...new Set(active.map(typeOf))], digest: short(`${source} ${JSON.stringify(said)}`) };
}

/** Undefined where the pair is as it was. */
function changeOf(
  before: FeedRow | undefined,
  next: Now | undefined,
): Pick<FeedRow, "types" | "digest" | "gone"> | undefined {
  const known = JSON.parse(before?.types ?? "[]") as string[];
  if (next === undefined) {
    if (before === undefined || before.gone === 1) return undefined;
    return { types: before.types, digest: "", gone: 1 };
  }
  if (before?.gone === 0 && before.digest === next.digest) return undefined;
  return { types: JSON.stringify([...new Set([...known, ...next.types])]), digest: next.digest, gone: 0 };
}

/**
 * Notes what changed of what publishers say of agents, in the caller's transaction, which has ticked the clock and so holds
 * it: changes are seen in the order of their clock.
 * @param publishers whose properties, authorizations or standing may have changed
 */
export function* noteChanges(
  q: Query,
  publishers: readonly number[],
  { seq, now }: { readonly seq: number; readonly now: number },
): Coroutine<void> {
  if (publishers.length === 0) return;
  const said = new Map<string, SaidRow>();
  // The first source of a pair is the one that counts: the publisher's own before the hosted file.
  for (const row of yield* saidBy(q, publishers)) {
    const key = `${row.publisher} ${row.agent}`;
    if (!said.has(key)) said.set(key, row);
  }
  const before = new Map((yield* feedOf(q, publishers)).map((row) => [`${row.publisher} ${row.agent}`, row]));
  const rows: FeedRow[] = [];
  const add = (
    pair: { publisher: number; agent: number },
    change: Pick<FeedRow, "types" | "digest" | "gone">,
  ): void => {
    const old = before.get(`${pair.publisher} ${pair.agent}`);
    const stays = old !== undefined && old.gone === 0;
    rows.push({ ...pair, ...change, seq, position: rows.length + 1, first: stays ? old.first : seq, at: now });
  };
  for (const publisher of publishers) add({ publisher, agent: 0 }, { types: "[]", digest: "", gone: 0 });
  for (const [key, old] of before) {
    const { publisher, agent } = old;
    if (agent === 0 || said.has(key)) continue;
    const change = changeOf(old, undefined);
    if (change !== undefined) add({ publisher, agent }, change);
  }
  for (const [key, row] of said) {
    const change = changeOf(before.get(key), nowOf(row, now));
    if (change !== undefined) add({ publisher: row.publisher, agent: row.agent }, change);
  }
  yield* putFeed(q, rows);
}
