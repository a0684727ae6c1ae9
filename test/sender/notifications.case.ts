/** What a sender does of a release with more kinds of events: configs proved before they are told, and what its payloads require. */
import * as assert from "uvu/assert";
import type { Sender, SenderOptions } from "../../runtime/sender/index.js";
import { eventRelease } from "../support/event-release.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { listening, NOW, verify } from "./fixture.js";
import {
  type Context,
  codeIn,
  drained,
  HOOK,
  HOUR,
  push,
  reopened,
  type SenderCase,
  start,
  suiteOf,
} from "./sender-suite.js";

export const AGENT = "https://seller.example/agent";
export const status = { kind: "account.status_changed", account: "acct-1", body: { status: "active" } } as const;
export const config = { subscriber_id: "primary", url: HOOK, event_types: ["account.status_changed"] };
export const scope = { principal: "buyer-1", account: "acct-1" };

export type Suite = ReturnType<typeof suiteOf>;
export type Open = (context: Context, over?: Partial<SenderOptions>) => Promise<Sender>;

function proofCases(test: Suite, open: Open): void {
  test("a config is asked whether it listens before it is told anything; then it is told its kinds", async (context) => {
    const { network } = context;
    const sender = await open(context);
    const refused = await sender.notifications.sync(scope, [config]);
    assert.equal(refused.ok ? "" : [refused.error.code, refused.error.field, refused.error.message], [
      "VALIDATION_ERROR",
      "notification_configs[0].url",
      "the endpoint did not answer with the challenge",
    ]);
    assert.equal([await sender.notifications.list(scope), (await sender.notifications.notify(status)).keys], [[], []]);
    network.react = listening;
    const again = await sender.notifications.sync(scope, [config]);
    assert.equal(again, { ok: true, configs: [{ ...config, active: true }] });
    const challenge = network.sent.at(-1)!;
    assert.ok((await verify(challenge)).ok);
    const { challenge: value, ...rest } = challenge.body;
    assert.match(value, /^[A-Za-z0-9_.:-]{32,255}$/);
    assert.equal(rest, {
      type: "webhook.challenge",
      account_id: "acct-1",
      subscriber_id: "primary",
      seller_agent_url: AGENT,
      delivery_auth: { mode: "rfc9421" },
      event_types: config.event_types,
    });
    const { keys } = await sender.notifications.notify({ ...status, notificationId: "note-1" });
    sender.start();
    await until(() => drained(sender));
    const { body } = network.sent.at(-1)!;
    assert.equal(body, {
      status: "active",
      account_id: "acct-1",
      idempotency_key: keys[0],
      notification_id: "note-1",
      notification_type: "account.status_changed",
      fired_at: new Date(NOW).toISOString(),
      subscriber_id: "primary",
    });
    assert.equal((await sender.notifications.notify({ ...status, account: "acct-2" })).keys, []);
    assert.is(
      await codeOf(async () => sender.notifications.notify({ ...status, body: { status: 7 } })),
      "event_invalid",
    );
    assert.is(await codeOf(async () => sender.notifications.notify({ ...status, kind: "nope" })), "event_invalid");
  });
}

function changeCases(test: Suite, open: Open): void {
  test("a changed URL is proved again, a paused config is told nothing, one that is left out ends", async (context) => {
    context.network.react = listening;
    const sender = await open(context);
    await sender.notifications.sync(scope, [config]);
    const both = ["account.status_changed", "account.change_recorded"];
    await sender.notifications.sync(scope, [{ ...config, event_types: both }]);
    assert.is(context.network.sent.length, 2, "what it is told is part of what it agreed to");
    assert.equal(context.network.sent[1]!.body.event_types, both.toSorted());
    await sender.notifications.sync(scope, [{ ...config, event_types: both.toReversed() }]);
    await sender.notifications.sync(scope, [{ ...config, event_types: both, active: false }]);
    await sender.notifications.sync(scope, [{ ...config, event_types: both }]);
    assert.is(context.network.sent.length, 2, "a proof is of a set of kinds, and outlives a pause");
    await sender.notifications.sync(scope, [{ ...config, url: `${HOOK}/moved` }]);
    assert.is(context.network.sent.length, 3);
    assert.is((await sender.notifications.notify(status)).keys.length, 1);
    await sender.notifications.sync(scope, [{ ...config, url: `${HOOK}/moved`, active: false }]);
    assert.equal((await sender.notifications.notify(status)).keys, []);
    await sender.notifications.sync(scope, []);
    assert.equal(await sender.notifications.list(scope), []);
    sender.start();
    await until(() => drained(sender));
    assert.is(context.network.sent.length, 3, "what was queued for it is not sent any more");
  });

  test("an agent is told of itself, and of accounts it asked for and is authorized for, at each attempt", async (context) => {
    context.network.react = listening;
    let authorized = true;
    const sender = await open(context, { authorized: () => authorized });
    const mine = { ...config, event_types: ["capabilities.changed", "account.status_changed"] };
    assert.is(codeIn(await sender.notifications.sync({ principal: "p" }, [mine])), "INVALID_REQUEST");
    assert.ok((await sender.notifications.sync({ principal: "p" }, [{ ...mine, all_authorized_accounts: true }])).ok);
    assert.is(context.network.sent[0]!.body.scope, "agent");
    await sender.notifications.notify({ kind: "capabilities.changed", body: { agent_url: AGENT } });
    await sender.notifications.notify(status);
    sender.start();
    await until(() => drained(sender));
    assert.is(context.network.sent.length, 3);
    authorized = false;
    await sender.notifications.notify(status);
    await until(async () => (await sender.outbox.counts()).refused === 1);
    assert.is(context.network.sent.length, 3);
  });
}

function refusalCases(test: Suite, open: Open): void {
  test("configs that cannot be honoured refuse all of them", async (context) => {
    const sender = await open(context);
    for (const wrong of [
      { ...config, event_types: [] },
      { ...config, event_types: ["capabilities.changed"] },
      { ...config, subscriber_id: "two words" },
      { ...config, url: "http://buyer.example/" },
    ]) {
      assert.is(codeIn(await sender.notifications.sync(scope, [wrong])), "INVALID_REQUEST");
    }
    assert.is(codeIn(await sender.notifications.sync(scope, [config, config])), "INVALID_REQUEST");
    assert.equal(await sender.notifications.list(scope), []);
  });
}

function unnamedCases(test: Suite, open: Open): void {
  test("a registration without an operation is refused where the release says so; a report's is told undeliverable once", async (context) => {
    const reports = () => ({ currency: "EUR", media_buy_deliveries: [] });
    const { operation_id: _, ...bare } = push;
    const events = { ...eventRelease.facts.events, unnamed: { value: "refused", from: "a test" } } as const;
    const strict = { ...eventRelease, facts: { ...eventRelease.facts, events } };
    const sender = await open(context, { reports, release: strict as never });
    const refused = await sender.tasks.register(start(), { push: bare });
    assert.equal(refused.ok ? undefined : [refused.error.code, refused.error.field], [
      "INVALID_REQUEST",
      "push_notification_config.operation_id",
    ]);
    const buy = { mediaBuyId: "mb-1", principal: "buyer-1" };
    assert.is(codeIn(await sender.channels.open(buy, { events: bare })), "INVALID_REQUEST");
    const reporting = { url: HOOK, reporting_frequency: "hourly" } as const;
    for (let times = 0; times < 2; times++) assert.equal(await sender.channels.open(buy, { reporting }), { ok: true });
    sender.start();
    await until(async () => (await sender.outbox.counts()).refused === 1);
    const [told] = await sender.outbox.list();
    assert.equal([told!.type, told!.subject, told!.state], ["undeliverable", "mb-1", "refused"]);
    assert.match(told!.error!, /no operation_id/);
    context.clock.at = NOW + 2 * HOUR;
    await sender.channels.tick();
    await sender.channels.close("mb-1");
    await sender.channels.tick();
    assert.is(context.network.sent.length, 0);
  });
}

function undeliverableCases(test: Suite, open: Open): void {
  test("a registration without an operation that may be taken is told of nothing, and an operator once: no operation is invented", async (context) => {
    const told: string[] = [];
    const logger = { warn: (_: object, message: string) => void told.push(message), error() {}, info() {}, debug() {} };
    const sender = await open(context, { logger: logger as never });
    const { operation_id: _, ...bare } = push;
    assert.equal(await sender.tasks.register(start(), { push: bare }), { ok: true, registered: false });
    assert.equal(told.length, 1);
    assert.match(told[0]!, /no operation_id/);
    const buy = { mediaBuyId: "mb-1", principal: "buyer-1" };
    for (let times = 0; times < 2; times++)
      assert.equal(await sender.channels.open(buy, { events: bare }), { ok: true });
    sender.start();
    const impairment = { impairment_id: "imp-1" };
    for (const notificationId of ["imp-0", "imp-1"])
      await sender.channels.impairment("mb-1", { notificationId, eventType: "fraud", impairment });
    await sender.channels.open(buy, { events: push });
    await sender.channels.impairment("mb-1", { notificationId: "imp-2", eventType: "fraud", impairment });
    await until(() => context.network.sent.length > 0);
    await until(() => drained(sender));
    assert.equal(
      context.network.sent.map(({ body }) => body.notification_id),
      ["imp-2"],
    );
    const refused = await sender.outbox.list({ state: "refused" });
    assert.equal(
      refused.map(({ type, subject, error }) => [type, subject, error!.split(",")[0]]),
      [["undeliverable", "mb-1", "its push_notification_config has no operation_id"]],
    );
    assert.equal(
      told.flatMap((message) => /^no .* is sent.* has no operation_id/.exec(message) ?? []),
      [
        "no webhook is sent of this task: its registration has no operation_id",
        "no impairment is sent: its push_notification_config has no operation_id",
      ],
    );
  });
}

function payloadCases(test: Suite, open: Open): void {
  test("reports are tasks of their own, and say what the release calls the surface", async (context) => {
    const sender = await open(context, { reports: () => ({ currency: "EUR", media_buy_deliveries: [] }) });
    sender.start();
    const reporting = { ...push, reporting_frequency: "hourly" } as const;
    await sender.channels.open({ mediaBuyId: "mb-1", principal: "buyer-1" }, { reporting, events: push });
    for (const hours of [1, 2]) {
      context.clock.at = NOW + hours * HOUR;
      await sender.channels.tick();
      await until(() => drained(sender));
    }
    const bodies = context.network.sent.map(({ body }) => body);
    assert.equal(
      bodies.map(({ task_id, protocol, domain, operation_id }) => [task_id, protocol, domain, operation_id]),
      [
        ["mb-1.report.1", "media-buy", undefined, "op-1"],
        ["mb-1.report.2", "media-buy", undefined, "op-1"],
      ],
    );
    const impairment = { impairment_id: "imp-1" };
    await sender.channels.impairment("mb-1", { notificationId: "imp-1", eventType: "fraud", impairment });
    await until(() => drained(sender));
    const { task_id, task_type, status: state, operation_id } = context.network.sent.at(-1)!.body;
    assert.match(task_id, /^impairment\./);
    assert.equal([task_type, state, operation_id], ["update_media_buy", "working", "op-1"]);
  });

  test("a 409 ends an event whose key stands for its payload, at once; retries are the same bytes", async (context) => {
    const logged: { error?: string }[] = [];
    const warn = (given: { error?: string }) => void logged.push(given);
    const sender = await open(context, { logger: { warn, error: warn, info: warn } as never });
    sender.start();
    await sender.tasks.register(start(), { push });
    const answers = [503, 409];
    context.network.react = () => answers.shift() ?? 200;
    await sender.tasks.update("task-1", { status: "working", result: { percentage: 5 } });
    await until(() => context.network.sent.length === 1);
    await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
    context.clock.at += HOUR;
    await until(async () => (await sender.outbox.counts()).dead === 1);
    const [first, second] = context.network.sent;
    assert.equal(first!.bytes, second!.bytes);
    assert.is.not(
      first!.headers.signature ?? first!.headers.Signature,
      second!.headers.signature ?? second!.headers.Signature,
    );
    assert.match((await sender.outbox.list())[0]!.error!, /HTTP 409/);
    assert.ok(logged.some(({ error }) => error?.includes("HTTP 409") === true));
  });
}

export function notificationCase(of: SenderCase): void {
  const test = suiteOf(of, "notifications");
  const open: Open = (context, over = {}) =>
    reopened(of, context, { release: eventRelease as never, agentUrl: AGENT, ...over });
  for (const cases of [proofCases, changeCases, refusalCases, unnamedCases, undeliverableCases, payloadCases])
    cases(test, open);
  test.run();
}
