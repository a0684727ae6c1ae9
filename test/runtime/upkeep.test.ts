/**
 * Everything that works by a timer survives an error of each of its statements, on real databases: it is told, what else
 * is due is done, the process lives, and the next turn does what was left.
 */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { sql } from "../../runtime/db/postgres/sql.js";
import type { PostgresStore } from "../../runtime/store/index.js";
import { newBench, openSeller } from "../seller/fixture.js";
import { startPostgres } from "../support/postgres.js";
import { broken, countOf, type Engine, execute, onPostgres, onSqlite, readableLog, until } from "./upkeep-world.js";
import { type Kind, type World, worlds } from "./upkeep-worlds.js";

const postgres = await startPostgres({ fsync: "off" });

/** Rejections nobody waited for: without this listener the first would end the process. */
const stray: unknown[] = [];
process.on("unhandledRejection", (error) => void stray.push(error));

const isLeft = async (store: Awaited<ReturnType<Engine["open"]>>, { table, where }: Kind): Promise<boolean> =>
  (await countOf(store, table, where)) > 0;

/** One for all breaches of a world: each leaves nothing due. */
const stores = new Map<string, ReturnType<Engine["open"]>>();
function storeOf(engine: Engine, world: World): ReturnType<Engine["open"]> {
  const name = `${engine.name} ${world.name}`;
  const store = stores.get(name) ?? engine.open();
  stores.set(name, store);
  return store;
}

async function survives(engine: Engine, world: World, { fails, ...breach }: World["breaches"][number]): Promise<void> {
  const store = await storeOf(engine, world);
  await world.fill(store, engine);
  for (const kind of world.kinds) assert.ok(await isLeft(store, kind), `nothing is due of: ${kind.step}`);
  const mend = await broken(store, breach);
  const { log, failed, recovered, lines } = readableLog();
  const running = await world.start(store, log);
  try {
    const others = world.kinds.filter(({ step }) => !fails.includes(step));
    const said = () => JSON.stringify(lines, null, 1);
    await until(async () => fails.every((step) => failed().has(step)), said);
    for (const kind of others)
      await until(
        async () => !(await isLeft(store, kind)),
        () => `${kind.step} ${said()}`,
      );
    assert.equal([...failed()].sort(), [...fails].sort(), "nothing else failed");
    await mend();
    await running.next();
    await until(() => fails.every((step) => recovered().has(step)), said);
    for (const kind of world.kinds)
      await until(
        async () => !(await isLeft(store, kind)),
        () => `${kind.step} ${said()}`,
      );
    assert.equal(stray, []);
  } finally {
    await running.stop();
  }
}

for (const engine of [onSqlite, onPostgres(postgres.database)]) {
  for (const world of worlds) {
    for (const breach of world.breaches) {
      test(`${engine.name}: a ${world.name} lives on with ${breach.table} ${breach.how}`, () =>
        survives(engine, world, breach));
    }
  }
}

/** A seller that is served, with a log to read. */
async function servedSeller() {
  const store = (await onPostgres(postgres.database).open()) as PostgresStore;
  await worlds[0]!.fill(store, onSqlite);
  const told = readableLog();
  const seller = await openSeller<never>(newBench(), { store, logger: told.log });
  return { store, seller, ...told };
}

test("postgres: a seller that is served outlives its sweep's errors", async () => {
  const { store, seller, failed } = await servedSeller();
  await execute(store, "alter table adbind_calls rename to taken_away");
  await seller.start();
  await until(
    () => failed().size === 2,
    () => [...failed()].join(),
  );
  await until(
    async () => (await countOf(store, "adbind_seller_tasks")) === 0,
    () => "tasks",
  );
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
  await until(
    async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'`.run(
        store.database,
      );
      return failed().size === 2;
    },
    () => [...failed()].join(),
  );
  release();
  await holder;
  await until(
    async () => (await countOf(store, "adbind_seller_tasks")) === 0,
    () => "tasks",
  );
  await seller.close();
  await store.close();
  assert.equal(stray, []);
});

test.after(async () => {
  for (const store of stores.values()) await (await store).close();
  await postgres.stop();
});
test.run();
