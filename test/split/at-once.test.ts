/** Changes of tasks on PostgreSQL, where the question of the keyspace is part of the one statement that writes. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { PostgresDatabase } from "../../runtime/db/index.js";
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { PostgresClient } from "../../runtime/db/postgres/own-client.js";
import type { MoveStep } from "../../runtime/store/split/move.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import { postgresGround } from "./databases.js";
import { codeOf, fill, going, type PrincipalWorld, principalWorld, staying, THREE, taskOf } from "./principal-world.js";

const ground = await postgresGround();
let place: PrincipalWorld;

test.before.each(async () => {
  place = await principalWorld(ground);
});
test.after.each(() => place.close());
test.after(() => ground.close());

const working = (message: string) => ({ status: "working", message }) as const;
/** Somebody who goes, and another of the same database who stays. */
const [principal] = going as [string];
const home = placeAmong(THREE, principal);
const neighbour = staying.find((one) => placeAmong(THREE, one) === home)!;

const waits = (event: string): string =>
  `select 1 as one from pg_stat_activity where datname = current_database() and wait_event = '${event}'`;

/** What this process asks of servers meanwhile, but for news of new jobs. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const asked: string[] = [];
  const { query } = PostgresClient.prototype;
  PostgresClient.prototype.query = function (this: object, ...given: unknown[]) {
    asked.push(typeof given[0] === "string" ? given[0] : (given[0] as { text: string }).text);
    return (query as (...values: unknown[]) => unknown).apply(this, given);
  } as never;
  try {
    await work();
  } finally {
    PostgresClient.prototype.query = query;
  }
  return asked.filter((text) => !text.includes("pg_notify"));
}

test("a change of a task of a split is one statement, and so are several principals' together", async () => {
  const { sender } = await place.instance(3);
  for (const one of [principal, neighbour]) await fill(sender, one);
  const change = (one: string) => sender.tasks.update(taskOf(one), working("x"), { principal: one });
  const alone = await statementsOf(async () => change(principal));
  assert.is(alone.length, 1, alone.join("\n"));
  const together = await statementsOf(() => Promise.all([change(principal), change(neighbour)]));
  assert.is(together.length, 1, together.join("\n"));
  assert.is((await place.where(principal))[home]!.adbind_jobs, 4);
  assert.is((await place.where(neighbour))[home]!.adbind_jobs, 3);
});

test("a statement that began before a principal left, and looks afterwards, writes nothing where he was", async () => {
  const { sender } = await place.instance(4, { waitMs: 60_000 });
  await fill(sender, principal, 1);
  const old = await place.database(home);
  const gate = await gated(old);
  const entered = Promise.resolve(sender.tasks.update(taskOf(principal), working("late")));
  await until(async () => (await old.query((q) => q.rows(waits("advisory")))).length === 1, "the statement to wait");
  const left = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const change = place.change({
    onStep(step: MoveStep) {
      if (step !== "left") return undefined;
      left.resolve();
      // His rows are still where they were.
      return goOn.promise;
    },
  });
  await change.add("d");
  const moved = change.move();
  await left.promise;
  const before = await place.where(principal);
  await gate.open();
  assert.is((await entered).keys.length, 1);
  const after = await place.where(principal);
  goOn.resolve();
  assert.is(await moved, 1);
  assert.equal(after[home], before[home]);
  assert.is(after.d!.adbind_jobs, before.d!.adbind_jobs! + 1);
  assert.equal(await place.where(principal), { d: after.d! });
});

/**
 * Has statements that write tasks stop between their beginning, with what they see, and their look at a keyspace: the table
 * is seen through a view that waits for a lock.
 */
async function gated(database: AnyDatabase): Promise<{ open(): Promise<void> }> {
  const url = place.urlOf(home);
  const holder = (await openDatabase(url)) as PostgresDatabase;
  await database.execute("alter table adbind_keyspaces rename to adbind_keyspaces_seen");
  await database.execute(`create function gate() returns boolean language plpgsql volatile as $$ begin
    if current_query() like '%adbind_change_tasks%' then perform pg_advisory_xact_lock_shared(7); end if;
    return true; end $$`);
  await database.execute("create view adbind_keyspaces as select * from adbind_keyspaces_seen where gate()");
  const closed = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const kept = holder.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(7)");
    locked.resolve();
    await closed.promise;
  });
  await locked.promise;
  return {
    async open() {
      closed.resolve();
      await kept;
      await holder.close();
    },
  };
}

test("a change waits while its principal's row is being changed, and nobody waits with it", async () => {
  const { sender } = await place.instance(4, { waitMs: 100 });
  for (const one of [principal, neighbour]) await fill(sender, one, 1);
  const old = (await place.database(home)) as PostgresDatabase;
  const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const fence = old.transaction(async (tx) => {
    await tx.query("update adbind_keyspaces set state = 'moved', peer = 'd' where name = $1", [principal]);
    locked.resolve();
    await goOn.promise;
  });
  await locked.promise;
  let over = false;
  const held = codeOf(async () => {
    await sender.tasks.update(taskOf(principal), working("late"), { principal });
  }).finally(() => (over = true));
  const isWaiting = async () => (await old.query((q) => q.rows(waits("transactionid")))).length > 0;
  await until(async () => over || (await isWaiting()), "the change to wait");
  for (let n = 0; n < 3; n += 1)
    await sender.tasks.update(taskOf(neighbour), working(String(n)), { principal: neighbour });
  const waited = !over;
  const before = (await place.where(principal))[home];
  goOn.resolve();
  await fence;
  assert.ok(waited);
  // Whoever is said to have him knows nothing of it.
  assert.is(await held, "split_moving");
  assert.equal((await place.where(principal))[home], before);
});

test.run();
