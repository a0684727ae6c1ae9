import { test } from "uvu";
import * as assert from "uvu/assert";
import { openDatabase } from "../../runtime/db/open.js";
import type { MoveStep } from "../../runtime/store/split/move.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import { postgresGround } from "./databases.js";
import { moveCase } from "./move.case.js";
import { fill, senderOf, world } from "./world.js";

const ground = await postgresGround();

test("a fence waits for an effect that is under way, and the event is handled once", async () => {
  const place = await world(ground);
  const store = await place.instance(4, { takeMs: 30_000 });
  const sender = Array.from({ length: 50 }, (_, i) => senderOf(i)).find(
    (one) => placeAmong(["a", "b", "c", "d"], one) === "d",
  )!;
  await fill(store, sender, 1);
  const lease = { owner: "x", until: Date.now() + 60_000, now: Date.now() };
  const [event] = await store.inbox.take({ ...lease, limit: 1 });
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const completed = store.inbox.complete({ ...lease, id: event!.id }, async () => {
    begun.resolve();
    await goOn.promise;
  });
  await begun.promise;
  const steps: MoveStep[] = [];
  const change = place.change({ onStep: (step) => steps.push(step) });
  await change.add("d");
  const moved = change.move();
  await until(() => steps.includes("copied"));
  const before = ["a", "b", "c"].indexOf(placeAmong(["a", "b", "c"], sender));
  const own = await openDatabase(place.urls[before]!);
  const waits = "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await own.query((q) => q.rows(waits))).length > 0, "the fence to wait for a row");
  await own.close();
  assert.equal(steps, ["arriving", "copied"], "it is held");
  goOn.resolve();
  assert.is(await completed, "completed");
  assert.is(await moved, 1);
  const found = await place.where(sender);
  assert.equal(Object.keys(found), ["d"]);
  assert.is(found.d!.adbind_inbox, undefined, "it has been handled");
  await place.close();
});

test.run();
moveCase(ground);
