/** Bodies of events at rest, sealed where a sender is told to: none in the store, the same at the receiver, keys rotated and lost. */
import * as assert from "uvu/assert";
import type { SecretKeys } from "../../runtime/sender/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { NOW, optionsFor, secretKeys } from "./fixture.js";
import { drained, HOUR, holds, push, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

const KEY2 = new Uint8Array(32).fill(9);
const bothKeys: SecretKeys = { current: "k2", keys: { ...secretKeys.keys, k2: KEY2 } };
const newKey: SecretKeys = { current: "k2", keys: { k2: KEY2 } };
const words = ["budget-of-four-million", "impaired-for-a-reason"];
const impairment = { notificationId: "n", impairment: { reason: words[1]! } };

type Context = Parameters<typeof reopened>[1];

/** An event that waits, and one that waits for others like it. */
async function tell({ sender }: Context, taskId: string, mediaBuyId = `mb-${taskId}`): Promise<void> {
  await sender.tasks.register(start({ taskId }), { push });
  await sender.tasks.update(taskId, { status: "working", message: words[0]! });
  await sender.channels.open({ mediaBuyId, principal: "buyer-1" }, { events: push });
  await sender.channels.impairment(mediaBuyId, impairment);
}

const sentTasks = ({ network }: Context): string[] =>
  network.sent.map(({ body }) => (body.notification_type === undefined ? body.task_id : body.media_buy_id)).sort();

function restCase(of: SenderCase): void {
  const test = suiteOf(of, "bodies at rest");
  test("no body is in the bytes of the store, waiting or dead; they arrive as they are", async (context) => {
    const sender = await reopened(of, context, { sealBodies: true });
    const { network, clock } = context;
    await tell(context, "a");
    network.react = () => 500;
    sender.start();
    await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
    clock.at += HOUR;
    await until(() => network.sent.length >= 3);
    await sender.stop();
    const bytes = await of.bytes();
    for (const word of words)
      for (const form of ["utf8", "hex", "base64"] as const)
        assert.not(bytes.includes(Buffer.from(word).toString(form)), `${word} as ${form}`);
    assert.ok(bytes.includes("buyer.example"), "what was searched is the store");
    const plain = await reopened(of, context, { sealBodies: false });
    const event = await plain.outbox.show((await plain.outbox.list())[0]!.id);
    assert.match(event!.body, words[0]!);
    network.react = () => 200;
    clock.at += HOUR;
    plain.start();
    await until(() => drained(plain));
    const [first] = network.sent;
    const again = network.sent.findLast(({ body }) => body.task_id === "a")!;
    assert.equal([first!.body.message, again.bytes], [words[0], first!.bytes]);
    assert.is(network.sent.at(-1)!.body.result?.reason ?? network.sent.at(-2)!.body.result.reason, words[1]);
  });

  test("without a key nothing can be sealed, and that is said at once", async ({ clock, network }) => {
    const options = { ...optionsFor(clock, network), secrets: undefined, sealBodies: true };
    assert.is(await codeOf(() => of.open(options as never)), "sender_option_invalid");
  });
  test.run();
}

function keyCase(of: SenderCase): void {
  const test = suiteOf(of, "keys of bodies");
  test("a lost key sets its bodies aside, others go on; what was to be one event waits; all go when it is back", async (context) => {
    await reopened(of, context, { sealBodies: true });
    await tell(context, "old");
    const sender = await reopened(of, context, { sealBodies: true, secrets: newKey });
    await tell(context, "new");
    sender.start();
    context.clock.at = NOW + HOUR;
    await until(async () => context.network.sent.length === 2 && (await drained(sender)));
    assert.equal(sentTasks(context), ["mb-new", "new"]);
    const [aside] = await sender.outbox.list();
    assert.equal([aside!.state, aside!.subject], ["refused", "old"]);
    assert.match(aside!.error!, "its body is under the key k1, which is not here");
    const shown = await sender.outbox.show(aside!.id);
    assert.equal([shown!.body, shown!.sealed], ["", aside!.error!]);
    const back = await reopened(of, context, { secrets: bothKeys });
    context.clock.at += HOUR;
    back.start();
    assert.ok(await back.outbox.replay(aside!.id));
    await until(() => context.network.sent.length === 4);
    assert.equal(sentTasks(context), ["mb-new", "mb-old", "new", "old"]);
  });

  test("rotation leaves no body under the old key, waiting or coalesced, and nothing in clear is touched", async (context) => {
    await tell(context, "clear");
    await reopened(of, context, { sealBodies: true });
    for (const taskId of ["a", "b"]) await tell(context, taskId);
    const sender = await reopened(of, context, { secrets: bothKeys });
    assert.equal(await sender.resealSecrets(), { resealed: 4, current: 0, lost: 0, foreign: 0 });
    assert.equal(await sender.resealSecrets(), { resealed: 0, current: 4, lost: 0, foreign: 0 });
    const later = await reopened(of, context, { secrets: newKey });
    later.start();
    context.clock.at = NOW + HOUR;
    await until(async () => context.network.sent.length === 6 && (await drained(later)));
    assert.equal(await later.outbox.counts(), holds());
  });

  for (const [what, change] of Object.entries({
    "another's body":
      "update adbind_job_bodies set body = (select body from adbind_job_bodies where meta like '%mine%') where meta like '%other%'",
    "its principal": `update adbind_job_bodies set meta = replace(meta, '"buyer-1"', '"buyer-2"') where meta like '%other%'`,
  }))
    test(`an event is set aside where somebody swapped ${what}, and the others go on`, async (context) => {
      const sender = await reopened(of, context, { sealBodies: true });
      for (const taskId of ["mine", "other"]) {
        await sender.tasks.register(start({ taskId }), { push });
        await sender.tasks.update(taskId, { status: "working" });
      }
      await of.rows(`${change} returning 1`);
      sender.start();
      await until(() => drained(sender));
      assert.equal(sentTasks(context), ["mine"]);
      const [aside] = await sender.outbox.list();
      assert.is(aside!.state, "refused");
      assert.match(aside!.error!, what === "its principal" ? "belongs to another principal" : "a column was changed");
    });
  test.run();
}

export function bodyCase(of: SenderCase): void {
  for (const cases of [restCase, keyCase]) cases(of);
}
