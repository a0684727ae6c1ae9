/** A sender that was started without the keys of secrets, or without the one that is wanted; on every store. */
import * as assert from "uvu/assert";
import type { Logger } from "../../runtime/log.js";
import { until } from "../support/until.js";
import { hmac } from "./registered-secrets.js";
import {
  type Context,
  drained,
  HOOK,
  HOUR,
  holds,
  push,
  reopened,
  type SenderCase,
  start,
  suiteOf,
} from "./sender-suite.js";

/** A logger, and what it was warned of events whose secrets do not open. */
function listened(): { readonly logger: Logger; readonly warned: string[] } {
  const warned: string[] = [];
  const warn = (of: { why?: string }, message: string) => void (of.why && warned.push(`${of.why}: ${message}`));
  return { warned, logger: { warn, error() {}, info() {}, debug() {} } as never };
}

async function tell({ sender }: Context, taskId: string, sealed = true): Promise<void> {
  await sender.tasks.register(start({ taskId }), { push: sealed ? { url: HOOK, authentication: hmac(taskId) } : push });
  await sender.tasks.update(taskId, { status: "working" });
}

export function keylessCase(of: SenderCase): void {
  const test = suiteOf(of, "a sender without keys");
  test("sets nothing aside: what it cannot open waits, that is told once, and it goes where the keys are", async (context) => {
    for (const taskId of ["a", "b"]) await tell(context, taskId);
    await reopened(of, context, { sealBodies: true });
    await tell(context, "body", false);
    const { logger, warned } = listened();
    const sender = await reopened(of, context, { secrets: undefined as never, logger });
    await tell(context, "clear", false);
    sender.start();
    await until(async () => {
      const left = await sender.outbox.list();
      return left.length === 3 && left.every(({ state, due }) => state === "waiting" && due! > context.clock.at);
    });
    assert.equal(await sender.outbox.counts(), holds({ waiting: 3 }));
    assert.ok((await sender.outbox.list()).every(({ attempts, firstAt }) => attempts === 0 && firstAt === null));
    assert.equal(
      context.network.sent.map(({ body }) => body.task_id),
      ["clear"],
    );
    assert.is(warned.length, 2);
    for (const one of warned)
      assert.match(one, /^its .* under the key k1, which is not here: .*ADBIND_SECRET_KEYS_FILE/);
    const back = await reopened(of, context, {});
    context.clock.at += HOUR;
    back.start();
    await until(() => drained(back));
    assert.equal([context.network.sent.length, await back.outbox.counts()], [4, holds()]);
  });

  test("what is set aside because its secrets do not open is told, once for each reason", async (context) => {
    for (const taskId of ["a", "b"]) await tell(context, taskId);
    const { logger, warned } = listened();
    const secrets = { current: "k2", keys: { k2: new Uint8Array(32).fill(9) } };
    const sender = await reopened(of, context, { secrets, logger });
    for (const taskId of ["c", "d"]) await tell(context, taskId);
    await of.rows("update adbind_sender_secrets set key_id = 'k2' where registration like '%\"b\"%' returning 1");
    await of.rows("update adbind_sender_secrets set box = 'AAAA' where registration like '%\"c\"%' returning 1");
    sender.start();
    await until(() => drained(sender));
    assert.equal(await sender.outbox.counts(), holds({ refused: 3 }));
    assert.equal(warned.map((one) => /which is not here|a column was changed/.exec(one)?.[0]).toSorted(), [
      "a column was changed",
      "which is not here",
    ]);
  });
  test.run();
}
