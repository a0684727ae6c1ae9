/** Deliverers of a split on PostgreSQL whose machines' clocks are an hour off, and a move beside them. */
import { setTimeout } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { FakeNetwork, optionsFor, verify } from "../sender/fixture.js";
import { fromServer, timesAreServers } from "../support/server-times.js";
import { until } from "../support/until.js";
import { named, postgresGround } from "./databases.js";
import { fill, going, principalWorld, THREE, taskOf } from "./principal-world.js";

const HOUR = 3_600_000;
const ground = await postgresGround();
const { now: system } = Date;
test.after.each(() => {
  Date.now = system;
});
test.after(() => ground.close());

/** A sender of a process whose clock is off, as every part of it sees that. @param ms by how much */
async function openOff(urls: readonly string[], ms: number) {
  Date.now = () => system() + ms;
  const network = new FakeNetwork({ at: 0 });
  const { now: _, ...options } = optionsFor({ at: 0 }, network);
  const store = await shardedByPrincipal(named(urls));
  const reports = () => ({ currency: "EUR", media_buy_deliveries: [] });
  const worker = { pollMs: 10, failuresToPause: 2 };
  const sender: Sender = await createSender({ ...options, store, worker, reports } as never);
  const close = async (): Promise<void> => {
    await sender.stop();
    await store.close();
  };
  return { sender, network, close };
}

for (const ms of [HOUR, -HOUR])
  test(`a deliverer of a split whose clock is ${ms > 0 ? "ahead" : "behind"} leaves no pause and no retry that is an hour off`, async () => {
    const place = await principalWorld(ground);
    const { sender, network, close } = await openOff(place.urls.slice(0, 3), ms);
    network.react = () => 503;
    const [principal] = going as [string];
    await fill(sender, principal, 1);
    sender.start();
    const database = await place.database(placeAmong(THREE, principal));
    const rows = (text: string) => database.query((q) => q.rows<{ ms: number }>(text));
    await until(async () => (await fromServer(rows, "select failing_since from adbind_endpoints")).length > 0);
    await timesAreServers(rows, HOUR);
    for (const sent of network.sent) assert.equal((await verify({ ...sent, at: Date.now() })).ok, true);
    await close();
    await place.close();
  });

test("a fence is lifted by the clock of its database, whoever waits for its end", async () => {
  const place = await principalWorld(ground);
  const [principal] = going as [string];
  // Whoever waits has a machine whose clock is ahead of the command's.
  const ahead = await openOff(place.urls, HOUR);
  Date.now = system;
  await fill(ahead.sender, principal, 1);
  let told: Promise<unknown> = Promise.resolve();
  let fences = 0;
  const onStep = async (step: string): Promise<void> => {
    if (step !== "fenced") return;
    fences += 1;
    const change = { status: "working", message: "waits" } as const;
    told = Promise.resolve(ahead.sender.tasks.update(taskOf(principal), change, { principal, dedupKey: "waits" }));
    await setTimeout(300);
  };
  const change = place.change({ onStep: onStep as never });
  await change.add("d");
  assert.is(await change.move(), 1);
  assert.is(fences, 1);
  await told;
  await ahead.close();
  await place.close();
});

test.run();
