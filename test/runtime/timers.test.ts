/** Whoever gives no end, or one that is further off than timers run, is not cut off at once. */
import { setTimeout } from "node:timers/promises";
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyers } from "../../runtime/buyer/index.js";
import { waitWithin } from "../../runtime/queue/pauses.js";
import { readBody } from "../../runtime/receiver/body.js";
import { startRun } from "../../runtime/receiver/deadline.js";
import { createRegistryClient } from "../../runtime/registry/client.js";
import { isTimerMs } from "../../runtime/timers.js";
import { release } from "../buyer/fixtures.js";

/** Past what a timer that holds too much takes: a millisecond. */
const LATER_MS = 30;
const MONTH_MS = 30 * 86_400_000;

test("a wait without an end is not over at once", async () => {
  for (const ms of [MONTH_MS, Number.POSITIVE_INFINITY]) {
    let ended = false;
    const work = setTimeout(LATER_MS).then(() => {
      ended = true;
    });
    await waitWithin(work, ms);
    assert.ok(ended, `within ${ms} ms`);
  }
});

test("calls of many agents without an end are waited for", async () => {
  const buyers = createBuyers({ release, agents: { one: "https://one.example/mcp" } });
  const [answer] = await buyers.each(
    "all",
    async (_, { signal }) => {
      await setTimeout(LATER_MS);
      return signal.aborted;
    },
    { deadline: Number.POSITIVE_INFINITY },
  );
  await buyers.close();
  assert.equal([answer?.ok, answer?.ok && answer.value], [true, false], "it ended, and was not given up");
});

test("a handler has a month, and a body", async () => {
  const run = startRun(MONTH_MS / 1_000);
  assert.is(await run.wait(setTimeout(LATER_MS, "done")), "done");
  run.close();
  async function* slow(): AsyncGenerator<Uint8Array> {
    await setTimeout(LATER_MS);
    yield Buffer.from("{}");
  }
  assert.equal(await readBody(slow(), { capBytes: 10, withinMs: MONTH_MS }), Buffer.from("{}"));
});

test("the registry is given a month to answer", async () => {
  nock("https://registry.example").get("/api/registry/agents").delay(LATER_MS).reply(200, { agents: [] });
  try {
    const client = createRegistryClient({ baseUrl: "https://registry.example", timeoutMs: MONTH_MS, retries: 0 });
    const answer = await client.listAgents({});
    assert.ok(answer.ok, JSON.stringify(answer));
  } finally {
    nock.cleanAll();
  }
});

test("what a timer can hold", () => {
  for (const ms of [0.5, 1, 2 ** 31 - 1]) assert.ok(isTimerMs(ms), String(ms));
  for (const ms of [0, -1, 2 ** 31, Number.POSITIVE_INFINITY, Number.NaN]) assert.not.ok(isTimerMs(ms), String(ms));
});

test.run();
