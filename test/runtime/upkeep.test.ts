/**
 * Everything that works by a timer survives an error of each of its statements, on real databases: it is told, what else
 * is due is done, the process lives, and the next turn does what was left.
 */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { behaviours } from "../../runtime/behaviours/index.js";
import { sql } from "../../runtime/db/postgres/sql.js";
import type { PostgresStore } from "../../runtime/store/index.js";
import { newBench, openSeller } from "../seller/fixture.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { stepNames } from "./upkeep/step-names.js";
import {
  type AnyStore,
  type Breach,
  broken,
  type Engine,
  execute,
  isLeft,
  type Kind,
  nameOf,
  onPostgres,
  onSqlite,
  readableLog,
  type World,
} from "./upkeep/world.js";
import { worlds } from "./upkeep/worlds.js";

const postgres = await sharedPostgres();

/** Rejections nobody waited for: without this listener the first would end the process. */
const stray: unknown[] = [];
process.on("unhandledRejection", (error) => void stray.push(error));

/** Steps that were broken, told and done again, in some world. */
const survived = new Set<string>();
const stores: Promise<AnyStore>[] = [];

async function survives(engine: Engine, store: AnyStore, world: World, breach: Breach): Promise<void> {
  const fails = [...breach.fails, ...(breach.also?.[engine.name] ?? [])];
  await world.fill(store, engine);
  for (const kind of world.kinds) assert.ok(await isLeft(store, kind), `nothing is due of: ${kind.step}`);
  const mend = await broken(store, breach);
  const { log, failed, recovered, lines } = readableLog();
  const said = (what: string) => () => `${nameOf(breach)}: ${what} ${JSON.stringify(lines, null, 1)}`;
  const isDone = async (kinds: readonly Omit<Kind, "step">[]): Promise<void> => {
    for (const kind of kinds) await until(async () => !(await isLeft(store, kind)), said(kind.where ?? kind.table));
  };
  const undone = [...fails, ...(breach.waits ?? [])];
  let running = await world.start(store, log);
  try {
    await isDone([...world.kinds.filter(({ step }) => !undone.includes(step)), ...(breach.done ?? [])]);
    if (breach.atStop) await running.stop();
    await until(() => fails.every((step) => failed().has(step)), said("to be told"));
    assert.equal([...failed()].sort(), [...fails].sort(), said("only these fail")());
    await mend();
    if (breach.atStop) {
      await world.fill(store, engine);
      running = await world.start(store, log);
    } else {
      await running.next();
      await until(() => fails.every((step) => recovered().has(step)), said("to work again"));
    }
    await isDone(world.kinds);
    await until(async () => (await running.done?.()) ?? true, said("to be done"));
    assert.equal(stray, []);
    for (const step of fails) survived.add(step);
  } finally {
    await running.stop();
  }
}

/** Its breaches on an engine, those of one store one after the other: each leaves nothing due. */
function outcomes(engine: Engine, world: World): readonly [Breach, Promise<void>][] {
  const breaches = world.breaches.filter(({ only = engine.name }) => only === engine.name);
  const opened = (): Promise<AnyStore> => {
    const store = engine.open();
    stores.push(store);
    return store;
  };
  const tracks = Array.from({ length: world.stores ?? 1 }, () => ({ store: opened(), last: Promise.resolve() }));
  return breaches.map((breach, at) => {
    const track = tracks[at % tracks.length]!;
    const outcome = track.last.then(async () => survives(engine, await track.store, world, breach));
    // Told by its own test; what it left is no matter of the next one.
    track.last = outcome.catch(() => {
      track.store = opened();
    });
    return [breach, outcome];
  });
}

for (const engine of [onSqlite, onPostgres(postgres.database)]) {
  for (const world of worlds.filter(({ only = engine.name }) => only === engine.name)) {
    for (const [breach, outcome] of outcomes(engine, world))
      test(`${engine.name}: a ${world.name} lives on with ${nameOf(breach)}`, () => outcome);
  }
}

test("each step that the source names has been broken, told and done again", async () => {
  const named = [
    ...stepNames(),
    ...behaviours.filter(({ upkeep }) => upkeep).map(({ area }) => `carry on what ${area} left unfinished`),
  ];
  for (const store of stores) for (const { what } of (await store).expiring) named.push(`remove ${what}`);
  assert.ok(named.length > 40, "the source is read");
  assert.not.ok(named.includes("*"), "a step has a name that can be read where it is written");
  const untested = [...new Set(named)].filter((name) => {
    const [begin, end] = name.split("*") as [string, string?];
    const is = (step: string): boolean =>
      end === undefined ? step === name : step.startsWith(begin) && step.endsWith(end);
    return ![...survived].some(is);
  });
  assert.equal(untested, [], "add something due of it, and what breaks it, to a world of test/runtime/upkeep");
});

/** A seller that is served, with a log to read. */
async function servedSeller() {
  const engine = onPostgres(postgres.database);
  const store = (await engine.open()) as PostgresStore;
  await worlds[0]!.fill(store, engine);
  const told = readableLog();
  const seller = await openSeller<never>(newBench(), { store, logger: told.log });
  return { store, seller, ...told };
}

test("postgres: a seller that is served outlives its sweep's errors", async () => {
  const { store, seller, failed } = await servedSeller();
  await execute(store, "alter table adbind_calls rename to taken_away");
  await seller.start();
  await until(() => failed().size === 2);
  await until(async () => !(await isLeft(store, { table: "adbind_seller_tasks" })));
  await seller.close();
  await store.close();
  assert.equal(stray, []);
});

test("postgres: a seller outlives connections that end under its sweep", async () => {
  const { store, seller, failed } = await servedSeller();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
  const holder = store.database.transaction(async (tx) => {
    await sql`lock table adbind_calls`.run(tx);
    onLocked();
    await held;
  });
  await locked;
  await seller.start();
  await until(async () => {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database()`.run(store.database);
    return failed().size === 2;
  });
  release();
  await holder;
  await until(async () => !(await isLeft(store, { table: "adbind_seller_tasks" })));
  await seller.close();
  await store.close();
  assert.equal(stray, []);
});

test.after(async () => {
  for (const store of stores) await (await store).close();
  await postgres.stop();
});
test.run();
