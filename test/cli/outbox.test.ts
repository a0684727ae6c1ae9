/** `adbind outbox` on a store with a dead letter. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as outbox } from "../../cli/outbox.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { push, start } from "../sender/sender-suite.js";
import { until } from "../support/until.js";
import { commandFolder, runCommand } from "./run-command.js";

const { at, remove } = commandFolder();

/** Begins as the command's: what has expired by that is not shown. */
const clock = { at: Date.now() };

/** Longer than the longest wait for a next attempt. */
const HOUR_AND_HALF = 5_400_000;

/** Both events are given up after a day: time passes by attempts, however slow those are. */
async function givenUp(sender: Sender, clock: { at: number }): Promise<void> {
  let attempts = 0;
  await until(async () => {
    const sum = (await sender.outbox.list()).reduce((all, one) => all + one.attempts, 0);
    if (sum > attempts) clock.at += HOUR_AND_HALF;
    attempts = sum;
    return (await sender.outbox.counts()).dead === 2;
  });
}

async function dropsNothingElse(given: readonly string[]): Promise<void> {
  for (const option of ["--endpoint", "--principal", "--task"])
    assert.is((await runCommand(outbox, ["drop", ...given, option, "", "--yes"])).code, 2);
  const atHost = await runCommand(outbox, ["drop", ...given, "--endpoint", "https://buyer.example", "--yes"]);
  assert.match(atHost.out, "0 events", "that is no endpoint");
}

async function replaysOnlyWhatBothSay(id: string, given: readonly string[]): Promise<void> {
  const another = await runCommand(outbox, ["replay", id, "--principal", "nobody", ...given]);
  assert.is(another.code, 1, "a number that is somebody else's");
  assert.match(another.err, `${id} is not there, has not ended, or is none of those`);
  assert.match((await runCommand(outbox, ["replay", id, "--principal", "buyer-1", ...given])).out, "due again");
}

async function pausesNoneThatIsUnknown(endpoint: string, given: readonly string[]): Promise<void> {
  const argv = ["pause", "https://buyer.example", endpoint, ...given, "--yes", "--json"];
  const half = await runCommand(outbox, argv);
  assert.is(half.code, 1);
  assert.match(half.err, `"${endpoint}"`, "it is offered");
  assert.equal(JSON.parse(half.out), { paused: [endpoint] });
  for (const command of ["pause", "resume"]) {
    for (const [which, value] of [
      ["--principal", "buyer-11"],
      ["--destination", "https://buyers.example"],
    ] as const) {
      const none = await runCommand(outbox, [command, which, value, ...given]);
      assert.is(none.code, 1);
      assert.match(none.err, "no endpoint is meant by that");
    }
    assert.is((await runCommand(outbox, [command, "--principal", "", ...given])).code, 2, "a variable that is not set");
  }
  const ahead = await runCommand(outbox, ["pause", "https://new.example a.b", "--ahead", ...given]);
  assert.match(ahead.out, "left alone");
  const resumed = await runCommand(outbox, ["resume", "https://new.example a.b", endpoint, ...given, "--yes"]);
  assert.is(resumed.code, 0);
}

async function resumesWhereNothingWaits(endpoint: string, given: readonly string[]): Promise<void> {
  await runCommand(outbox, ["pause", endpoint, ...given]);
  await runCommand(outbox, ["drop", "--endpoint", endpoint, ...given, "--yes"]);
  const resumed = await runCommand(outbox, ["resume", "--principal", "buyer-1", ...given]);
  assert.match(resumed.out, "delivered to again", "nothing waits there that would say whose it is");
}

test("dead letters are listed without secrets, retried and dropped", async () => {
  const network = new FakeNetwork(clock);
  const words = (headers: Readonly<Record<string, string>>) =>
    `oops ${Object.values(headers).find((value) => value.startsWith("sha256="))} hidden`;
  network.react = ({ headers }) => ({ status: 500, body: Buffer.from(words(headers)), truncated: true });
  const store = openSqliteStore({ path: at("outbox.db") });
  const sender = await createSender({ ...optionsFor(clock, network), store });
  const authentication = { schemes: ["HMAC-SHA256"], credentials: "0123456789abcdef0123456789ABCDEFghij" };
  for (const taskId of ["a", "b"]) {
    await sender.tasks.register(start({ taskId }), { push: { ...push, url: `${push.url}?s=hidden`, authentication } });
    await sender.tasks.update(taskId, { status: "working" });
  }
  sender.start();
  await until(async () => (await sender.outbox.list()).filter(({ attempts }) => attempts === 1).length === 2);
  await givenUp(sender, clock);
  await sender.stop();
  await store.close();
  const given = ["--store", "sqlite:outbox.db"];
  const listed = await runCommand(outbox, ["list", ...given, "--state", "dead"]);
  assert.match(listed.out, "0 waiting, 2 dead, 0 expired, 0 refused");
  assert.match(listed.out, "HTTP 500");
  for (const secret of ["hidden", authentication.credentials]) assert.not.match(listed.out, secret);
  const { events } = JSON.parse((await runCommand(outbox, ["list", ...given, "--json"])).out);
  const ids = events.map((one: { id: number }) => String(one.id));
  const event = JSON.parse((await runCommand(outbox, ["show", ids[0], ...given, "--json"])).out);
  assert.ok(event.history.length > 5);
  assert.equal(event.history.at(-1).answer, { text: "oops [redacted] [redacted]", cut: true });
  assert.match((await runCommand(outbox, ["show", ids[0], ...given])).out, /answer: oops .* \(cut\)/);
  assert.is((await runCommand(outbox, ["replay", ...given])).code, 2);
  const all = ["replay", ...given, "--state", "dead", "--principal", "buyer-1", "--from", "2000-01-01"];
  const asked = await runCommand(outbox, all);
  assert.is(asked.code, 2);
  assert.match(asked.err, /2 events would be sent again.*--yes/);
  assert.match((await runCommand(outbox, [...all.slice(0, 3), "--principal", "nobody", "--yes"])).out, "0 events");
  assert.match((await runCommand(outbox, [...all.slice(0, 3), "--task", "c", "--yes"])).out, "0 events");
  await replaysOnlyWhatBothSay(ids[0], given);
  await dropsNothingElse(given);
  assert.match((await runCommand(outbox, ["drop", ids[1], ...given])).out, "removed");
  assert.match((await runCommand(outbox, ["list", ...given])).out, "1 waiting, 0 dead, 0 expired, 0 refused");
  assert.is((await runCommand(outbox, ["drop", ids[1], ...given])).code, 1);
  const listedAt = async (origin: string) =>
    (await runCommand(outbox, ["list", ...given, "--destination", origin])).out;
  assert.match(await listedAt("https://buyer.example/any/path"), "create_media_buy");
  assert.not.match(await listedAt("https://other.example"), "create_media_buy");
  assert.is((await runCommand(outbox, ["list", ...given, "--state", "gone"])).code, 2);
  const seen = JSON.parse((await runCommand(outbox, ["endpoints", ...given, "--json"])).out).endpoints;
  assert.equal(
    seen.map(({ waiting, url }: { waiting: number; url: string }) => [waiting, url]),
    [[1, "https://buyer.example/hooks/a"]],
  );
  const { endpoint } = seen[0];
  assert.match((await runCommand(outbox, ["pause", endpoint, ...given])).out, "left alone");
  assert.match((await runCommand(outbox, ["endpoints", ...given])).out, /paused +1 waiting/);
  assert.match((await runCommand(outbox, ["resume", endpoint, ...given])).out, "delivered to again");
  assert.is((await runCommand(outbox, ["resume", endpoint, ...given])).code, 1);
  await pausesNoneThatIsUnknown(endpoint, given);
  await resumesWhereNothingWaits(endpoint, given);
  process.exitCode = 0;
});

test.after(remove);
test.run();
