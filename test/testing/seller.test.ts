/** A seller behind a hostile network, before a receiver that holds and before one that believes everything. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import {
  createSellerDouble,
  createTestReceiver,
  type SellerDoubleOptions,
  type TestWebhook,
  testEvent,
} from "../../runtime/testing/index.js";
import { numbers } from "../support/random.js";

const sender = "https://seller.example/agent";
const publicUrl = "https://hooks.buyer.example";
const url = `${publicUrl}/hooks/a`;
const HOSTILE = { duplicate: 0.4, replay: 0.3, forge: 0.5, delay: 0.2, reorder: true };

test("whatever the network does, each event is handled once, and nothing else is", async () => {
  const { receiver, clock, key, seen, close } = createTestReceiver({ release, sender, publicUrl });
  await receiver.expect({ route: "/hooks/a", sender, kind: "task" });
  const now = () => clock.ms;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      seen.length = 0;
      run += 1;
      const double = createSellerDouble({
        ...{ url, key, now, network: HOSTILE, random: numbers(seed) },
        deliver: (webhook) => receiver.handle(webhook),
      });
      const tasks = Array.from({ length: 20 }, (_, at) => `run-${run}-task-${at}`);
      const report = await double.send(tasks.map((task_id) => testEvent({ task_id }, now)));
      assert.equal(report.faults, []);
      await receiver.idle();
      assert.equal(seen.map(({ taskId }) => taskId).sort(), [...tasks].sort());
    }),
    { numRuns: 5 },
  );
  await close();
});

const sendTo = (deliver: SellerDoubleOptions["deliver"]) => {
  const { receiver, key, clock, close } = createTestReceiver({ release, sender, publicUrl });
  const double = createSellerDouble({
    ...{ url, key, now: () => clock.ms, network: HOSTILE, random: numbers(7), deliver },
  });
  const events = Array.from({ length: 12 }, (_, at) => testEvent({ task_id: `task-${at}` }, () => clock.ms));
  return { receiver, close, report: double.send(events), events };
};

test("a receiver that believes everything, or nothing, is found out", async () => {
  const open = sendTo(async () => ({ status: 200, body: "" }));
  const { faults, forged, delivered } = await open.report;
  assert.ok(forged.length > 0 && delivered.some(({ as }) => as === "replay"));
  for (const { fault } of forged) assert.ok(faults.some((line) => line.startsWith(`${fault}: answered 200`)));
  assert.ok(
    faults.some((line) => /were believed, and not/.test(line)),
    "replays were believed",
  );
  await open.close();
  const shut = sendTo(async (_webhook: TestWebhook) => ({ status: 401, body: "" }));
  const refused = (await shut.report).faults.filter((line) => line.startsWith("event "));
  assert.is(refused.length, shut.events.length);
  await shut.close();
});

test.run();
