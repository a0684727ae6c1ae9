/** Buyers before sellers that are played to them: ours, one that is right, and ones that are wrong in one thing each. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import {
  type BuyerConformanceOptions,
  type BuyerStart,
  countsLine,
  runBuyerConformance,
} from "../../runtime/conformance/index.js";
import { ownBuyer } from "./own-buyer.js";
import { suiteOf } from "./small-agent.js";
import { type BuyerFault, buyerFaults, soundBuyer } from "./sound-buyer.js";

const quick = { quietMs: 200, webhookPauseMs: 15, deadlineMs: 15_000 };

async function played(start: BuyerStart, more: Partial<BuyerConformanceOptions> = {}) {
  const report = await runBuyerConformance({ release, start, ...quick, ...more });
  const steps = report.storyboards.flatMap((one) => one.steps);
  const bad = steps.filter(({ status }) => status === "failed");
  return {
    report,
    failed: bad.map(({ storyboard, step }) => `${storyboard}/${step}`),
    why: JSON.stringify(
      bad.map(({ step, problem, checks }) => [step, problem, checks.filter(({ outcome }) => outcome === "failed")]),
    ),
  };
}

test("our own buyer does what is asked of buyers", async () => {
  const invalid: unknown[] = [];
  const { report, failed, why } = await played(ownBuyer(release, (message) => void invalid.push(message)));
  assert.equal(invalid, [], "the played seller keeps the release's schemas, as the buyer does");
  assert.equal(failed, [], why);
  assert.is(report.ok, true);
  assert.is(countsLine(report.counts), "steps: 15 passed, 0 failed, 0 skipped, 0 not graded, 0 faulty");
});

const vectors = {
  positive: [{ id: "whole", payload: { idempotency_key: "whk_0000000000000001", status: "completed" } }],
  negative: [{ id: "no-key", payload: { status: "completed" } }],
};

const replays = `
id: receiver
phases:
  - id: p
    steps:
      - {id: take, task: replay_webhook_vector, vector_ref: "v.json#positive/whole"}
      - {id: refuse, task: replay_webhook_vector, vector_ref: "v.json#negative/no-key", expect_error: true}
`;

test("a receiver is posted the vectors of a suite, and graded by how it answers", async () => {
  const suite = suiteOf(replays, { "v.json": JSON.stringify(vectors) });
  const run = async (answer: (body: string) => number) => {
    const receiver = "https://hooks.example/in";
    const fetch = async (_url: unknown, init?: RequestInit) =>
      new Response(null, { status: answer(String(init?.body)) });
    const more = { suite, storyboards: ["receiver"], receiver, fetch: fetch as typeof globalThis.fetch };
    return (await played(async () => ({}), more)).failed;
  };
  assert.equal(await run((body) => (body.includes("idempotency_key") ? 200 : 400)), []);
  assert.equal(await run(() => 200), ["receiver/refuse"]);
  assert.equal(await run(() => 503), ["receiver/take", "receiver/refuse"]);
});

const caught: Readonly<Record<BuyerFault, readonly string[]>> = {
  "polls without end": ["buyer_order_submitted/create", "buyer_order_failed/create"],
  "runs an effect twice": ["buyer_webhooks/pause"],
  "believes a forged webhook": ["buyer_webhooks/create", "buyer_webhooks/pause"],
  "takes submitted as the end": [
    "buyer_order_submitted/create",
    "buyer_order_submitted/pause",
    "buyer_order_failed/create",
    "buyer_webhooks/create",
    "buyer_webhooks/pause",
  ],
  "misses input-required": ["buyer_input_required/answer_input", "buyer_input_required/pause"],
  "ignores retry_after": ["buyer_rate_limited/create"],
  "new idempotency key on retry": ["buyer_rate_limited/create", "buyer_answer_lost/create"],
  "tries a terminal error again": ["buyer_terminal_error/create"],
};

test("a buyer that is right fails nothing", async () => {
  const { failed, why } = await played(soundBuyer(release.word));
  assert.equal(failed, [], why);
});

for (const fault of buyerFaults)
  test(`a buyer that ${fault} is caught where it is asked about`, async () => {
    const expected = caught[fault];
    const storyboards = [...new Set(expected.map((one) => one.split("/")[0]!))];
    const { failed, why } = await played(soundBuyer(release.word, fault), { storyboards });
    assert.equal(failed, expected, why);
  });

test.run();
