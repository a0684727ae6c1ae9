/** What a task's caller registers for the media buy that the task makes, on every store. */
import * as assert from "uvu/assert";
import { push, reopened, type SenderCase, secret, start, suiteOf } from "./sender-suite.js";

const hmac = { schemes: ["HMAC-SHA256"], credentials: secret };
const reporting = { url: "https://buyer.example/reports", reporting_frequency: "daily", authentication: hmac } as const;
const keys = { old: new Uint8Array(32).fill(1), current: new Uint8Array(32).fill(2) };

export function heldChannelCase(of: SenderCase): void {
  const test = suiteOf(of, "tasks, held channels");
  test("what is kept of a task is its principal's, opens after keys have changed, and goes with the task", async (context) => {
    const old = await reopened(of, context, { secrets: { current: "old", keys: { old: keys.old } } });
    assert.ok((await old.tasks.register(start(), { push: { ...push, authentication: hmac } })).ok);
    assert.ok((await old.tasks.hold(start(), { ...reporting, url: "https://buyer.example/before" })).ok);
    assert.ok((await old.tasks.hold(start(), reporting)).ok);
    assert.ok((await old.tasks.hold(start({ taskId: "only-reports" }), reporting)).ok);
    const stranger = await old.tasks.hold(start({ principal: "stranger" }), reporting);
    assert.is(!stranger.ok && stranger.error.code, "REFERENCE_NOT_FOUND");
    assert.not.match((await of.bytes()).toString("latin1"), secret);
    const both = await reopened(of, context, { secrets: { current: "current", keys } });
    assert.is((await both.resealSecrets()).resealed, 3);
    const now = await reopened(of, context, { secrets: { current: "current", keys: { current: keys.current } } });
    assert.equal(await now.tasks.held("task-1"), { push: { ...push, authentication: hmac }, reporting });
    assert.equal(await now.tasks.held("only-reports"), { reporting });
    // Nobody is told of a task for what is kept of it.
    assert.equal(await now.tasks.update("only-reports", { status: "working" }), { keys: [] });
    await now.tasks.forget("task-1", start().principal);
    assert.equal(await now.tasks.held("task-1"), {});
    assert.is((await of.rows("select * from adbind_sender_secrets")).length, 1);
  });

  test.run();
}
