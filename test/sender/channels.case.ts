/** What the persistent channels of a sender must do, on every store: reports, impairments, notices. */

import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { NOW, type Sent, verify } from "./fixture.js";
import {
  advance,
  buy,
  type ChannelSuite,
  data,
  finalReports,
  owedReports,
  reportClocks,
  reporting,
  withReports,
} from "./reports.case.js";
import { drained, HOOK, HOUR, noneOut, push, type SenderCase, suiteOf } from "./sender-suite.js";

/** Reports at their turn. */
function reports(test: ChannelSuite, of: SenderCase): void {
  test("reports fire at their turn, delayed and final ones too, and nothing after the final", async (context) => {
    const { network } = context;
    let late = false;
    // The sender's own timer may ask at the same moment, and then sends nothing: a report asked for twice is one.
    const asked = new Map<string, string>();
    const sender = await withReports(of, context, ({ notificationType, period }) => {
      const { start, end } = period;
      asked.set(`${notificationType} ${start} ${end}`, `${notificationType} ${(end - start) / 60_000}`);
      return late
        ? { delayed: true, currency: "EUR" }
        : { ...data, aggregated_totals: { spend: 1 }, notification_id: "x" };
    });
    sender.start();
    assert.equal(await sender.channels.open(buy, { reporting, events: push }), { ok: true });
    await advance(context, NOW + HOUR - 1);
    assert.is(network.sent.length, 0);
    await advance(context, NOW + HOUR);
    late = true;
    await advance(context, NOW + 2 * HOUR);
    late = false;
    await advance(context, NOW + 3 * HOUR);
    const adjusted = { ...data, period: { start: NOW, end: NOW + HOUR } };
    await sender.channels.adjusted("mb-1", adjusted);
    await sender.channels.impairment("mb-1", { notificationId: "imp-1", impairment: { impairment_id: "imp-1" } });
    await until(() => drained(sender));
    // What is final goes up to the moment in which the sender, or its own timer, comes to it.
    context.clock.at = NOW + 3 * HOUR + 60_000;
    assert.is((await sender.channels.close("mb-1")).keys.length, 1);
    await advance(context, context.clock.at);
    const shown = network.sent.map(({ body }) => body.result.notification_type ?? body.notification_type);
    assert.equal(shown, ["scheduled", "delayed", "scheduled", "adjusted", "impairment", "final"]);
    assert.equal([...asked.values()], ["scheduled 60", "scheduled 60", "scheduled 120", "final 1"]);
    const reports = network.sent.filter(({ body }) => body.task_type === "media_buy_delivery");
    const numbers = reports.map(({ body }) => body.result.sequence_number);
    assert.equal(numbers, [1, 2, 3, 4, 5]);
    for (const sent of reports) {
      assert.ok((await verify(sent)).ok);
      assert.not.ok("aggregated_totals" in sent.body.result || "notification_id" in sent.body.result);
    }
    assert.is(reports[1]!.body.result.media_buy_deliveries[0].status, "reporting_delayed");
    assert.is(reports.at(-1)!.body.result.next_expected_at, undefined);
    await advance(context, NOW + 48 * HOUR);
    assert.is(network.sent.length, 6);
    assert.is(await codeOf(() => sender.channels.adjusted("mb-1", adjusted)), "channel_closed");
    assert.is(
      await codeOf(() => sender.channels.impairment("mb-1", { notificationId: "i", impairment: {} })),
      "channel_closed",
    );
    const activity = await sender.activity({ principal: "buyer-1", subject: "mb-1", limit: 2 });
    assert.equal(
      activity.map((one) => [one.notification_type, one.sequence_number]),
      [
        ["final", 5],
        ["impairment", undefined],
      ],
    );
  });
}

/** Reports whose config or source changes. */
function reportChanges(test: ChannelSuite, of: SenderCase): void {
  test("a changed config holds from the next fire on", async (context) => {
    const sender = await withReports(of, context, () => data);
    sender.start();
    await sender.channels.open(buy, { reporting });
    await advance(context, NOW + HOUR);
    await sender.channels.open(buy, {
      reporting: { url: "https://buyer.example/new", reporting_frequency: "daily" },
    });
    await advance(context, NOW + 2 * HOUR);
    assert.is(context.network.sent.length, 1);
    await advance(context, Date.UTC(2026, 3, 19));
    assert.equal(
      context.network.sent.map((one) => one.url),
      [HOOK, "https://buyer.example/new"],
    );
    await sender.channels.open(buy, { reporting: null });
    await advance(context, Date.UTC(2026, 3, 21));
    assert.is(context.network.sent.length, 2);
  });

  test("a source of reports that fails is asked again, and holds up no other buy", async (context) => {
    let broken = true;
    const sender = await withReports(of, context, ({ mediaBuyId }) => {
      if (broken && mediaBuyId === "mb-1") throw new Error("warehouse");
      return data;
    });
    sender.start();
    await sender.channels.open(buy, { reporting });
    await sender.channels.open({ ...buy, mediaBuyId: "mb-2" }, { reporting });
    context.clock.at = NOW + HOUR;
    await sender.channels.tick().catch(() => undefined);
    await until(() => context.network.sent.length === 1);
    await noneOut(sender);
    broken = false;
    await advance(context, NOW + HOUR + 60_000);
    assert.equal(
      context.network.sent.map(({ body }) => body.task_id),
      ["mb-2.report.1", "mb-1.report.1"],
    );
    const { start: from, end } = context.network.sent[1]!.body.result.reporting_period;
    assert.is(Date.parse(end) - Date.parse(from), HOUR);
  });
}

const { facts } = release;
const kinds = { ...facts.events.kinds, creative: facts.events.kinds.impairment! };
/** A release that tells a media buy of more than impairments. */
const tellingMore = { ...release, facts: { ...facts, events: { ...facts.events, kinds } } };

/** Impairments as they change. */
function impairments(test: ChannelSuite, of: SenderCase): void {
  test("changes of one impairment become one event, urgent ones do not wait", async (context) => {
    const { sender, network, clock } = context;
    sender.start();
    await sender.channels.open(buy, { events: push });
    const change = (id: string, to: string, eventType?: string) =>
      sender.channels.impairment("mb-1", {
        notificationId: id,
        impairment: { impairment_id: id, transition: { to } },
        ...(eventType !== undefined && { eventType }),
      });
    await change("imp-1", "suspended");
    clock.at += 60_000;
    await change("imp-1", "withdrawn");
    await change("fraud-1", "suspended", "fraud");
    await until(() => drained(sender));
    assert.is(network.sent.length, 1);
    assert.is(network.sent[0]!.body.notification_id, "fraud-1");
    assert.is(network.sent[0]!.body.notification_type, "impairment", "the wire has one type for all impairments");
    await advance(context, NOW + 5 * 60_000 - 1);
    assert.is(network.sent.length, 1);
    await advance(context, NOW + 5 * 60_000);
    const [, merged] = network.sent as [Sent, Sent];
    assert.is(merged.body.notification_id, "imp-1");
    assert.is(merged.body.result.transition.to, "withdrawn");
    await change("imp-1", "closed");
    await advance(context, clock.at + 5 * 60_000);
    assert.is(network.sent[2]!.body.notification_id, "imp-1");
    assert.is(new Set(network.sent.map((one) => one.body.idempotency_key)).size, 3);
  });

  test("windows are shorter by declaration, longer by opt-in only", async (context) => {
    const sender = await withReports(of, context, () => data, {
      release: tellingMore,
      coalescence: { impairment: 60_000, creative: 3_600_000 },
    });
    assert.equal(sender.channels.declaredWindows, { impairment: 60 });
    sender.start();
    await sender.channels.open(buy, { events: push });
    await sender.channels.open(
      { ...buy, mediaBuyId: "mb-2" },
      { events: { ...push, coalescenceOptIn: { creative: 3_600_000 } } },
    );
    for (const id of ["mb-1", "mb-2"]) {
      await sender.channels.impairment(id, { notificationId: "c", eventType: "creative", impairment: {} });
    }
    await sender.channels.impairment("mb-1", { notificationId: "i", impairment: {} });
    await advance(context, NOW + 60_000);
    await advance(context, NOW + 300_000);
    await advance(context, NOW + HOUR);
    assert.equal(
      context.network.sent.map(({ body, at }) => [body.media_buy_id, body.notification_id, at - NOW]),
      [
        ["mb-1", "i", 60_000],
        ["mb-1", "c", 300_000],
        ["mb-2", "c", HOUR],
      ],
    );
  });
}

/** Which words an impairment may have. */
function impairmentTypes(test: ChannelSuite): void {
  test("an impairment of a type that the release has not for a media buy is refused", async ({ sender, network }) => {
    const tell = (mediaBuyId: string, eventType: string) =>
      codeOf(() => sender.channels.impairment(mediaBuyId, { notificationId: "i", impairment: {}, eventType }));
    await sender.channels.open(buy, { events: push });
    for (const type of ["final", "task", "Impairment", "impairments", "brand-safety", "constructor", "__proto__"])
      for (const id of ["mb-1", "nobody's"]) assert.is(await tell(id, type), "event_invalid", `${type} ${id}`);
    for (const type of ["fraud", "brand_safety"]) assert.is(await tell("mb-1", type), "nothing thrown");
    sender.start();
    await until(() => network.sent.length === 2);
    assert.equal(
      network.sent.map(({ body }) => body.notification_type),
      ["impairment", "impairment"],
    );
  });
}

/** What a buy that has ended has still to say. */
function lastImpairments(test: ChannelSuite): void {
  test("what a buy that ends has still to say goes to no place of another operation", async (context) => {
    const { sender, network } = context;
    const closing = { notificationId: "imp-1", impairment: { impairment_id: "imp-1" }, eventType: "fraud" };
    const moved = "https://buyer.example/hooks/moved";
    const calls = "https://buyer.example/hooks/calls";
    for (const [at, events] of [
      { ...push, url: moved },
      { operation_id: "the call that ends it", url: calls },
    ].entries()) {
      const mediaBuyId = `mb-${at}`;
      await sender.channels.open({ ...buy, mediaBuyId }, { events: push });
      await sender.channels.impairment(mediaBuyId, closing);
      await sender.channels.close(mediaBuyId);
      assert.equal(await sender.channels.open({ ...buy, mediaBuyId }, { events }), { ok: true });
    }
    sender.start();
    await until(() => network.sent.length === 2);
    const told = network.sent.map(({ url, body }) => [body.media_buy_id, url, body.operation_id]);
    assert.equal(told.sort(), [
      ["mb-0", moved, "op-1"],
      ["mb-1", HOOK, "op-1"],
    ]);
  });
}

/** Notices of single things. */
function notices(test: ChannelSuite): void {
  test("a notice goes to its subscriber with a key of its own, and an incomplete one nowhere", async (context) => {
    const { sender, network } = context;
    sender.start();
    const of_ = { resource: "list-1", principal: "buyer-1" };
    assert.equal(await sender.channels.subscribe("list_change", of_, push), { ok: true });
    const change = {
      event: "property_list_changed",
      list_id: "list-1",
      resolved_at: "2026-04-18T14:00:00Z",
      signature: "s",
    };
    await sender.channels.notify("list_change", "list-1", change);
    await until(() => drained(sender));
    const [{ body }] = network.sent as [Sent];
    assert.equal(Object.keys(body), ["idempotency_key", ...Object.keys(change)]);
    assert.is(await codeOf(() => sender.channels.notify("rights", "r-1", { rights_id: "r" })), "event_invalid");
    assert.equal(
      await sender.channels.notify("artifact", "mb-9", {
        media_buy_id: "m",
        batch_id: "b",
        timestamp: "t",
        artifacts: [],
      }),
      {
        keys: [],
      },
    );
  });
}

export function channelCase(of: SenderCase): void {
  const test = suiteOf(of, "channels");
  for (const some of [
    reports,
    owedReports,
    reportClocks,
    finalReports,
    reportChanges,
    impairments,
    impairmentTypes,
    lastImpairments,
    notices,
  ])
    some(test, of);
  test.run();
}
