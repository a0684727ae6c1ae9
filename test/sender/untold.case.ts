/** What cannot be told to one: it is set aside with its reason, and the others are told, on every store. */
import * as assert from "uvu/assert";
import { eventRelease } from "../support/event-release.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { listening } from "./fixture.js";
import { drained, HOOK, HOUR, push, reopened, type SenderCase, secret, suiteOf } from "./sender-suite.js";

const none = async (): Promise<void> => undefined;
const kind = "account.status_changed";
const changed = { kind, account: "x", body: { status: "active" } };
const configs = [{ subscriber_id: "s", url: HOOK, event_types: [kind], all_authorized_accounts: true }];
const schema = "core/account-status_changed-webhook.json";

/** A release that wants one field more of a notification. */
const stricter = {
  ...eventRelease,
  version: "3.8.0",
  async schemas() {
    const all = await eventRelease.schemas();
    const wanted = JSON.parse(all[schema as never] as string) as { required: string[]; properties: object };
    wanted.required.push("previous_status");
    Object.assign(wanted.properties, { previous_status: { type: "string" } });
    return { ...all, [schema]: JSON.stringify(wanted) };
  },
};

export function untoldCase(of: SenderCase): void {
  const test = suiteOf(of, "what cannot be told to one");
  test("a config under a release that refuses the body, or that cannot be read, keeps nobody else from being told", async (context) => {
    context.network.react = listening;
    const sender = await reopened(of, context, {
      ...{ release: eventRelease, releases: [stricter], agentUrl: "https://seller.example/agent" },
    } as never);
    for (const scope of [{ principal: "a" }, { principal: "b", release: "3.8.0" }, { principal: "c" }])
      assert.ok((await sender.notifications.sync(scope, configs)).ok);
    await of.corrupt("update adbind_channels set config = '{broken' where principal = 'c' and kind = 'agent'", none);
    assert.is((await sender.notifications.notify(changed)).keys.length, 2);
    assert.is(await codeOf(() => sender.notifications.notify({ ...changed, body: {} })), "event_invalid");
    sender.start();
    await until(() => drained(sender));
    const counts = await sender.outbox.counts();
    assert.is(counts.refused, 1);
    const [told] = await sender.outbox.list({ principal: "b" });
    assert.is(told!.state, "refused");
    assert.match(told!.error!, "the body is none of");
  });

  test("a change that cannot be built, or read, does not keep its buy's others", async (context) => {
    const { sender, clock } = context;
    for (const mediaBuyId of ["built", "read"])
      await sender.channels.open({ mediaBuyId, principal: "buyer-1" }, { events: { ...push, token: secret } });
    const long = { notificationId: "i", impairment: { reason: "x".repeat(1_030_000) } };
    assert.is(await codeOf(() => sender.channels.impairment("built", long)), "event_invalid");
    await sender.channels.impairment("read", { notificationId: "i", impairment: {} });
    await of.corrupt("update adbind_coalescing set payload = '{broken' where resource = 'read'", none);
    sender.start();
    clock.at += HOUR;
    await until(async () => (await sender.outbox.counts()).refused === 1, "it is set aside");
    for (const mediaBuyId of ["built", "read"]) {
      await sender.channels.impairment(mediaBuyId, { notificationId: "f", eventType: "fraud", impairment: {} });
      await sender.channels.close(mediaBuyId);
    }
    await until(() => drained(sender));
    assert.is(context.network.sent.length, 2);
  });
  test.run();
}
