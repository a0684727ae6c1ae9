/** How long keys are remembered: as long as their sender sends an event again. */
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { rememberedKeys } from "../../runtime/receiver/remembered.js";
import { envelope, goBy, receiverSuite, type SetupOptions, send, statusOf } from "../support/receiver.js";
import { codeOf } from "../support/thrown.js";

const test = receiverSuite("horizons");
const DAY_S = 86_400;

const { facts } = release;
const retryHorizon = { value: true, from: "a test" } as const;
/** A release whose sellers declare how long they try. */
const declaring = { ...release, facts: { ...facts, signing: { ...facts.signing, retryHorizon } } };

const report = () =>
  envelope({ task_type: "media_buy_delivery", status: "completed", result: { notification_type: "scheduled" } });

for (const [title, options, days, again] of [
  ["a release that has it declared, seven days", { release: declaring }, 6.9, "duplicate"],
  ["a day, where its release knows no other", {}, 1.1, "accepted"],
  ["what the sender declares", { senderConfig: { retryHorizonSeconds: 3 * DAY_S } }, 2.9, "duplicate"],
  ["no longer than that", { release: declaring, senderConfig: { retryHorizonSeconds: DAY_S } }, 1.1, "accepted"],
  ["what the receiver is told, before the release", { release: declaring, dedupWindowSeconds: DAY_S }, 1.1, "accepted"],
] as const)
  test(`an event that comes again is known for ${title}`, async ({ open }) => {
    const s = await open(options as SetupOptions);
    const body = report();
    assert.is(statusOf(await send(s, body, { route: "/hooks/report" })), "accepted");
    await goBy(s, days * DAY_S * 1_000);
    assert.is(statusOf(await send(s, body, { route: "/hooks/report" })), again);
  });

test("who is remembered for longer may have sent more, unless a bound is given", () => {
  const kept = rememberedKeys({})(undefined, declaring);
  assert.equal(kept, { windowSeconds: 7 * DAY_S, senderCap: 7_000_000 });
  assert.equal(rememberedKeys({ senderCap: 5 })(undefined, declaring), { ...kept, senderCap: 5 });
  assert.is(rememberedKeys({ dedupWindowSeconds: 3_600 })(undefined, declaring).senderCap, 1_000_000);
});

test("what no sender may declare is refused when it is given", async ({ open }) => {
  for (const retryHorizonSeconds of [DAY_S - 1, 8 * DAY_S, 90_000.5])
    assert.is(await codeOf(() => open({ senderConfig: { retryHorizonSeconds } })), "receiver_option_invalid");
});

test.run();
