import { test } from "uvu";
import * as assert from "uvu/assert";
import { openDatabase } from "../../runtime/db/open.js";
import { AdbindError } from "../../runtime/errors.js";
import { createSender } from "../../runtime/sender/index.js";
import { openStore } from "../../runtime/store/index.js";
import { splitChange } from "../../runtime/store/split/change.js";
import type { DatabaseHealth } from "../../runtime/store/split/member.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import { buyRequest, call, newBench, openSeller } from "../seller/fixture.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { arrival, NOW, newEvent, registration } from "../store/cases/events.js";
import { until } from "../support/until.js";
import { NAMES, named, sqliteGround } from "./databases.js";
import { codeOf } from "./principal-world.js";
import { senderOf } from "./world.js";

const ground = sqliteGround();
const THREE = ["a", "b", "c"];
const at = (name: string): string =>
  Array.from({ length: 50 }, (_, i) => senderOf(i)).find((one) => placeAmong(THREE, one) === name)!;
const unreachable = new AdbindError("database_unreachable", "the server is down");

test.after(() => ground.close());

/** A split whose second database can be cut off, and what is told of it. */
async function cuttable() {
  const urls = await ground.fresh(3);
  const made = await shardedBySender(named(urls));
  for (const name of THREE) {
    const sender = at(name);
    const route = `/hooks/${name}`;
    await made.registrations.add(registration({ sender, route, operationId: null }), NOW);
    await made.inbox.accept(arrival(newEvent({ sender, route })));
  }
  await made.close();
  let cut = false;
  const told: DatabaseHealth[] = [];
  const databases = await Promise.all(
    urls.map(async (url, index) => {
      const database = await openDatabase(url);
      const refusing = new Proxy(database, {
        get(target, key) {
          const value = Reflect.get(target, key);
          if (!cut || index !== 1 || key === "close") return value;
          throw unreachable;
        },
      });
      return {
        name: NAMES[index]!,
        database: index === 1 ? async () => (cut ? Promise.reject(unreachable) : refusing) : database,
      };
    }),
  );
  return { urls, databases, told, cut: (now: boolean) => (cut = now) };
}

test("while one database is down at the start, senders of the others are served and theirs are told to come again", async () => {
  const { databases, told, cut } = await cuttable();
  cut(true);
  const store = await shardedBySender(databases, { onHealth: (health) => told.push(health) });
  assert.equal(told, [{ name: "b", reachable: false }]);
  for (const name of ["a", "c"]) {
    const outcome = await store.inbox.accept(arrival(newEvent({ sender: at(name), route: `/hooks/${name}` })));
    assert.is(outcome.outcome, "accepted");
  }
  const refused = await store.inbox.accept(arrival(newEvent({ sender: at("b") }))).catch((error: unknown) => error);
  assert.is((refused as AdbindError).code, "database_unreachable");
  const events = await store.inbox.take({ owner: "x", until: NOW + 30_000, now: NOW, limit: 10 });
  assert.equal(new Set(events.map(({ sender }) => sender)), new Set([at("a"), at("c")]));
  assert.is((await store.registrations.binding("/hooks/a"))?.sender, at("a"));
  // It may have the route: whoever asks is not told that there is none.
  assert.is(await store.registrations.binding("/hooks/b").catch((error: unknown) => error), unreachable);
  assert.is(await store.registrations.binding("/hooks/none").catch((error: unknown) => error), unreachable);
  assert.equal(
    store.databases().map(({ reachable }) => reachable),
    [true, false, true],
  );
  for (const one of store.expiring) await one.remove(NOW, 10);
  assert.equal(await store.inbox.backlog(), { pending: 4, parked: 0, dead: 0 });
  cut(false);
  const back = arrival(newEvent({ sender: at("b"), route: "/hooks/b" }));
  const outcomeOf = (): Promise<string> =>
    store.inbox.accept(back).then(
      ({ outcome }) => outcome,
      ({ code }: AdbindError) => code,
    );
  let outcome = "";
  // It is not asked again with every event.
  const askedAgain = async (): Promise<boolean> => {
    outcome = await outcomeOf();
    return outcome !== "database_unreachable";
  };
  await until(askedAgain);
  assert.is(outcome, "accepted");
  assert.equal(told.at(-1), { name: "b", reachable: true });
  await store.close();
});

test("databases are given by the name they have, and are of one set", async () => {
  const [first, second] = [await ground.fresh(2), await ground.fresh(2)];
  for (const urls of [first, second])
    await (await shardedBySender(named(urls, urls === first ? NAMES : ["x", "y"]))).close();
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "none",
      (error: unknown) => (error as AdbindError).code,
    );
  assert.is(await codeOf(shardedBySender(named(first, ["b", "a"]))), "split_invalid");
  assert.is(await codeOf(shardedBySender(named([first[0]!, second[1]!], ["a", "y"]))), "split_invalid");
  assert.is(await codeOf(shardedBySender(named(first.slice(0, 1)))), "split_outdated");
  assert.is(await codeOf(shardedBySender([])), "split_invalid");
  assert.is(await codeOf(shardedBySender(named(first, ["a", "a"]))), "split_invalid");
});

test("a receiver that uses one of them as if it were alone is refused", async () => {
  const urls = await ground.fresh(2);
  await (await shardedBySender(named(urls))).close();
  const plain = await openStore(urls[0]!);
  const error = await plain.inbox.accept(arrival(newEvent())).catch((thrown: unknown) => thrown);
  assert.is((error as AdbindError).code, "split_invalid");
  assert.is((await plain.inbox.list()).length, 0);
  await plain.close();
});

test("one database that has been alone goes on as the first of several, with all that it has", async () => {
  const urls = await ground.fresh(2);
  const plain = await openStore(urls[0]!);
  const senders = Array.from({ length: 8 }, (_, i) => senderOf(i));
  const events = senders.map((sender) => newEvent({ sender }));
  for (const event of events) await plain.inbox.accept(arrival(event));
  await plain.close();
  const refused = await shardedBySender(named(urls)).catch((error: unknown) => error);
  assert.is((refused as AdbindError).code, "split_invalid");
  const first = splitChange({ kind: "sender", databases: named(urls.slice(0, 1)) });
  await first.init();
  await first.close();
  const change = splitChange({ kind: "sender", databases: named(urls) });
  await change.add("b");
  const moved = await change.move();
  assert.is(moved, senders.filter((sender) => placeAmong(["a", "b"], sender) === "b").length);
  assert.ok(moved > 0);
  await change.close();
  const store = await shardedBySender(named(urls));
  for (const event of events) assert.is((await store.inbox.accept(arrival(event))).outcome, "duplicate");
  await store.close();
});

test("while one database is down, principals of the others are told of and called, and theirs are told to come again", async () => {
  const urls = await ground.fresh(3);
  let cut = false;
  const databases = urls.map((url, index) => ({
    name: NAMES[index]!,
    database: async () => {
      const database = await openDatabase(url);
      if (index !== 1) return database;
      return new Proxy(database, {
        get(target, key) {
          if (!cut || key === "close" || key === "engine" || key === "onNotify") return Reflect.get(target, key);
          throw unreachable;
        },
      });
    },
  }));
  const store = await shardedByPrincipal(databases);
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const sender = await createSender({ ...optionsFor(clock, network), store });
  const seller = await openSeller(newBench(), { store, sender } as never);
  for (const name of THREE) {
    const start = {
      taskId: `task-${name}`,
      tool: "create_media_buy",
      status: "submitted",
      principal: at(name),
    } as const;
    await sender.tasks.register(start, { push: { url: "https://buyer.example/hook", operation_id: name } });
  }
  sender.start();
  cut = true;
  for (const name of THREE) {
    const code = await codeOf(() => sender.tasks.update(`task-${name}`, { status: "working" }));
    assert.is(code, name === "b" ? "database_unreachable" : "none");
    const answer = await call(seller, "create_media_buy", buyRequest(), at(name));
    assert.is(answer.proto_error?.code, name === "b" ? "SERVICE_UNAVAILABLE" : undefined, name);
  }
  await until(() => network.sent.length === 2);
  const { ok, reachable, problems } = await sender.health();
  assert.equal([ok, reachable, problems], [false, true, ["1 of 3 databases cannot be reached: b"]]);
  cut = false;
  await seller.close();
  await sender.stop();
  await store.close();
});

test.run();
