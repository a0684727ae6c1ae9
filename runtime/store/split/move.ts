/**
 * Moves one keyspace to another database while traffic flows. Each step can be done again, by the next who comes after this
 * process was killed; what decides is one row in the old database, changed in one transaction.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { type CopiedRows, type Copying, copyRows, countRows } from "./copy.js";
import type { SplitKind } from "./placement.js";
import {
  announceDrain,
  announceFence,
  arrive,
  type KeyspaceRow,
  readKeyspace,
  withdrawDrain,
  withdrawFence,
  writeKeyspace,
} from "./rows.js";
import type { KeyspaceTables } from "./tables.js";

/** Longest time that writers of a keyspace may have to wait for its move, in milliseconds, unless the caller says otherwise. */
export const FENCE_MS = 5_000;
/** Copies while traffic flows before the fence: each has only to do what came during the one before. */
const LIVE_PASSES = 5;
/** Rows that a pass may still find changed for the next to be the one behind the fence. */
const FEW_ROWS = 200;
/** Fences put up for one keyspace before it is left for another time. */
const FENCES = 4;
/** Longest wait for what somebody is at work on, in milliseconds: the longest attempt of a delivery, and its signature. */
const DRAIN_MS = 45_000;
/** Pause between two looks at it, in milliseconds. */
const DRAIN_PAUSE_MS = 100;
/** Longest wait behind the fence for what was leased and is given back at once, and the pause between two looks, in milliseconds. */
const GIVEN_BACK_MS = 1_000;
const GIVEN_BACK_PAUSE_MS = 10;
/** What expires within it is not counted when a copy is verified, in seconds: either database may remove it meanwhile. */
const HORIZON_SECONDS = 60;

/** Where a move is: told after each step, so that it can be watched, and stopped anywhere. */
export type MoveStep = "arriving" | "copied" | "fenced" | "verified" | "left" | "arrived" | "removed";

export interface KeyspaceMove {
  readonly kind: SplitKind;
  readonly keyspace: string;
  readonly tables: KeyspaceTables;
  readonly from: { readonly name: string; readonly database: Database };
  readonly to: { readonly name: string; readonly database: Database };
  /** Longest fence, in milliseconds. */
  readonly fenceMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onStep: (step: MoveStep) => unknown;
}

/** What a move cost. */
export interface MovedKeyspace {
  /** Rows that were copied while it stood still, or had changed since they were copied. */
  readonly rows: number;
  /** How long its writers had to wait, in milliseconds; 0 where it had left already. */
  readonly fencedMs: number;
}

/** The fence has stood as long as it may. */
class FenceOver extends Error {}

const taken = (keyspace: string): AdbindError =>
  new AdbindError("split_moving", "another move of the keyspace has begun since", {
    where: keyspace,
    remedy: "let that one go on; `adbind split status` shows how far it is",
  });

/**
 * Moves a keyspace, from wherever an earlier move of it was stopped.
 * @throws AdbindError `split_moving` where another process moves it, or it is too large for its fence; `split_unverified`
 */
export async function moveKeyspace(move: KeyspaceMove): Promise<MovedKeyspace> {
  const { kind, keyspace, from, to, onStep, tables } = move;
  const token = randomUUID();
  const before = await from.database.query((q) => readKeyspace(q, kind, keyspace));
  let cost: FencedCopy = { rows: 0, fencedMs: 0, until: 0 };
  if (before?.state !== "moved") {
    await claim(move, token);
    await onStep("arriving");
    cost = await copyOver(move, token);
    await onStep("left");
  }
  await to.database.write((q) => arrive(q, kind, keyspace));
  const { until } = cost;
  if (tables.arrived !== undefined && until > 0) await to.database.write((q) => tables.arrived!(q, keyspace, until));
  await from.database.write(function* (q) {
    yield* withdrawFence(q, kind, keyspace);
    yield* withdrawDrain(q, kind, keyspace);
  });
  await onStep("arrived");
  await clean(move, from.database);
  await onStep("removed");
  return { rows: cost.rows, fencedMs: cost.fencedMs };
}

/** Has the new database expect the keyspace, of this move and no other. */
async function claim(move: KeyspaceMove, token: string): Promise<void> {
  const { kind, keyspace, from, to } = move;
  const there = await to.database.query((q) => readKeyspace(q, kind, keyspace));
  // It was here once, and its rows may not be gone yet.
  if (there?.state === "moved") await clean(move, to.database);
  await to.database.write(function* (q) {
    const row = yield* readKeyspace(q, kind, keyspace, true);
    if (row?.state === "here" || row?.state === "moving") throw taken(keyspace);
    yield* writeKeyspace(q, kind, { name: keyspace, state: "arriving", peer: from.name, token, until: null });
  });
}

/** What is known of a fence when it is over. */
interface FencedCopy extends MovedKeyspace {
  /** When it might have been lifted, unix milliseconds. */
  readonly until: number;
}

/**
 * Waits until nobody is at work on anything of the keyspace: from now on nobody begins to be.
 * @throws AdbindError `split_moving` where it takes too long
 */
async function drained({ kind, keyspace, tables, from, now, fenceMs }: KeyspaceMove): Promise<void> {
  const { leased } = tables;
  if (leased === undefined) return;
  const until = now() + DRAIN_MS + FENCES * fenceMs;
  await from.database.write((q) => announceDrain(q, kind, keyspace, until));
  const end = performance.now() + DRAIN_MS;
  let left = 0;
  do {
    left = await from.database.query((q) => leased(q, keyspace, now()));
    if (left === 0) return;
    await pause(DRAIN_PAUSE_MS);
  } while (performance.now() < end);
  await from.database.write((q) => withdrawDrain(q, kind, keyspace));
  throw new AdbindError("split_moving", `${left} of the keyspace's events are still on their way to their receivers`, {
    where: keyspace,
    remedy: "it stays where it is; run `adbind split move` again when they have answered",
  });
}

/** Copies until the old database has given the keyspace up. */
async function copyOver(move: KeyspaceMove, token: string): Promise<FencedCopy> {
  const { keyspace, tables, from, to, onStep, fenceMs } = move;
  const change: Copying["change"] = (work) =>
    to.database.write(function* (q) {
      const row = yield* readKeyspace(q, move.kind, keyspace, true);
      if (row?.state !== "arriving" || row.token !== token) throw taken(keyspace);
      yield* work(q);
    });
  const live: Copying = { from: from.database, to: to.database, change, goOn: () => undefined };
  for (let pass = 0; pass < LIVE_PASSES; pass += 1) {
    let changed = 0;
    for (const rows of await tables.rows(from.database, to.database, keyspace)) changed += await copyRows(live, rows);
    if (changed <= FEW_ROWS) break;
  }
  const logs = await tables.copyLogs?.(live, keyspace);
  await onStep("copied");
  await drained(move);
  for (let tries = 1; ; tries += 1) {
    try {
      return await fenced(move, token, { live, logs });
    } catch (error) {
      await unfence(move, token);
      // Rows that were not as many: a lease ended under the fence. They are copied anew.
      if ((error instanceof FenceOver || isUnverified(error)) && tries < FENCES) continue;
      await from.database.write((q) => withdrawDrain(q, move.kind, keyspace));
      if (!(error instanceof FenceOver)) throw error;
      throw new AdbindError("split_moving", `the keyspace could not be copied while it stood still for ${fenceMs} ms`, {
        where: keyspace,
        remedy: "it stays where it is; have its events handled, or allow a longer fence (--fence-seconds)",
      });
    }
  }
}

const isUnverified = (error: unknown): boolean => error instanceof AdbindError && error.code === "split_unverified";

type LogsRest = (fenced: Copying) => Promise<number>;

/** Puts up the fence, copies what is left, and has the old database give the keyspace up. */
async function fenced(
  move: KeyspaceMove,
  token: string,
  { live, logs }: { readonly live: Copying; readonly logs: LogsRest | undefined },
): Promise<FencedCopy> {
  const { kind, keyspace, tables, from, to, now, fenceMs, onStep } = move;
  const begun = performance.now();
  const until = now() + fenceMs;
  await from.database.write((q) => announceFence(q, kind, keyspace, until));
  const fence: KeyspaceRow = { name: keyspace, state: "moving", peer: to.name, token, until };
  const put = from.database.write(function* (q) {
    const row = yield* readKeyspace(q, kind, keyspace, true);
    if (row?.state !== "here" && row?.state !== "moving") throw taken(keyspace);
    yield* writeKeyspace(q, kind, fence);
  });
  await put.catch((error: unknown) => {
    // Somebody holds the keyspace for longer than a row is waited for: an effect that takes its time.
    throw error instanceof AdbindError && error.code === "database_busy" ? new FenceOver() : error;
  });
  await onStep("fenced");
  const goOn = (): void => {
    if (now() >= until) throw new FenceOver();
  };
  await givenBack(move, goOn);
  const copying = { ...live, goOn };
  let rows = 0;
  const all = await tables.rows(from.database, to.database, keyspace);
  for (const one of all) rows += await copyRows(copying, one);
  rows += (await logs?.(copying)) ?? 0;
  rows += await tables.copyFenced(copying, keyspace, until);
  await verify(move, all).catch((error: unknown) => {
    // It was lifted meanwhile, and somebody has written.
    throw isUnverified(error) && now() >= until ? new FenceOver() : error;
  });
  await onStep("verified");
  await from.database.write(function* (q) {
    const row = yield* readKeyspace(q, kind, keyspace, true);
    // Whoever waited for too long has lifted it, and may have written since.
    if (row?.state !== "moving" || row.token !== token) throw new FenceOver();
    yield* writeKeyspace(q, kind, { ...fence, state: "moved", until: null });
  });
  return { rows, until, fencedMs: Math.round(performance.now() - begun) };
}

/**
 * Waits for leases that were taken since nobody was at work any more: each is given back as soon as whoever has it sees that nothing is to
 * be begun, but where much comes in, somebody has one at almost any time.
 * @throws FenceOver where one stays
 */
async function givenBack({ keyspace, tables, from, now }: KeyspaceMove, goOn: () => void): Promise<void> {
  const { leased } = tables;
  if (leased === undefined) return;
  const end = performance.now() + GIVEN_BACK_MS;
  while ((await from.database.query((q) => leased(q, keyspace, now()))) > 0) {
    if (performance.now() >= end) throw new FenceOver();
    await pause(GIVEN_BACK_PAUSE_MS);
    goOn();
  }
}

/** @throws AdbindError `split_unverified` where the two databases do not have as many rows of the keyspace */
async function verify({ keyspace, tables, from, to, now }: KeyspaceMove, all: readonly CopiedRows[]): Promise<void> {
  const horizon = now() / 1000 + HORIZON_SECONDS;
  const count = function* (q: Query, side: "from" | "to"): Coroutine<number[]> {
    const counts: number[] = [];
    for (const one of all) counts.push(yield* countRows(q, one, side, horizon));
    return [...counts, yield* tables.countFenced(q, keyspace)];
  };
  const source = await from.database.query((q) => count(q, "from"));
  const target = await to.database.query((q) => count(q, "to"));
  const wrong = source.findIndex((n, at) => n !== target[at]);
  if (wrong < 0) return;
  const table = all[wrong]?.table ?? "the rest";
  throw new AdbindError("split_unverified", `${target[wrong]} of ${source[wrong]} rows of ${table} were copied`, {
    where: keyspace,
    remedy: "it stays where it is, and can be moved again; if it happens again, another keyspace has its rows there",
  });
}

/** Takes the fence down where it is ours. */
async function unfence({ kind, keyspace, from }: KeyspaceMove, token: string): Promise<void> {
  await from.database.write(function* (q) {
    yield* withdrawFence(q, kind, keyspace);
    const row = yield* readKeyspace(q, kind, keyspace, true);
    if (row?.state !== "moving" || row.token !== token) return;
    yield* writeKeyspace(q, kind, { name: keyspace, state: "here", peer: null, token: null, until: null });
  });
}

/** Removes the rows of a keyspace that has left a database, if it has. */
async function clean({ kind, keyspace, tables }: KeyspaceMove, database: Database): Promise<void> {
  const row = await database.query((q) => readKeyspace(q, kind, keyspace));
  if (row?.state !== "moved" || row.token === null) return;
  const change: Copying["change"] = (work) =>
    database.write(function* (q) {
      const now = yield* readKeyspace(q, kind, keyspace, true);
      if (now?.state !== "moved" || now.token !== row.token) throw taken(keyspace);
      yield* work(q);
    });
  await tables.remove(database, change, keyspace);
  await change((q) => writeKeyspace(q, kind, { ...row, token: null }));
}
