/** What senders of several databases in one process tell of by one meter. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Metrics, openMetrics } from "../../runtime/behaviours/metrics.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-senders-"));
const clock = { at: NOW };

/** A sender on a database of its own, with events that wait at an endpoint which is paused. */
async function paused({ meter }: Metrics, events: number, secondsAgo: number): Promise<Sender> {
  const store = openSqliteStore({ path: path.join(folder, `${events}.db`) });
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store, meter });
  await sender.tasks.register(start(), { push });
  clock.at = NOW - secondsAgo * 1_000;
  for (let n = 0; n < events; n++) await sender.tasks.update("task-1", { status: "working" });
  clock.at = NOW;
  const [one] = await sender.outbox.endpoints();
  await sender.outbox.pause(one!.endpoint);
  sender.start();
  return sender;
}

const told = async (metrics: Metrics, name: string): Promise<string[]> =>
  (await metrics.read()).split("\n").filter((line) => line.startsWith(`adbind_sender_${name}`));

test("gauges of several senders are their sums, and of those that run", async () => {
  const metrics = await openMetrics();
  const [first, second] = [await paused(metrics, 2, 60), await paused(metrics, 1, 5)];
  const look = async () => [
    (await told(metrics, "backlog")).find((line) => line.includes('"waiting"'))?.split(" ")[1],
    (await told(metrics, "oldest_age"))[0]?.split(" ")[1],
    (await told(metrics, "endpoints")).find((line) => line.includes('"paused"'))?.split(" ")[1],
    (await told(metrics, "alarms"))[0]?.split(" ")[1],
  ];
  assert.equal(await look(), ["3", "60", "2", "0"]);
  await first.stop();
  assert.equal(await look(), ["1", "5", "1", "0"]);
  await second.stop();
  await metrics.stop();
});

test.after(() => rmSync(folder, { recursive: true }));
test.run();
