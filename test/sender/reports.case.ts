/** Reports that are owed, and those of buys that have ended, on every store; and what cases of channels share. */
import * as assert from "uvu/assert";
import { endpointOf } from "../../runtime/sender/endpoint-names.js";
import type { ReportSource, SenderOptions } from "../../runtime/sender/index.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { NOW, optionsFor } from "./fixture.js";
import { type Context, drained, HOOK, HOUR, noneOut, type SenderCase, type suiteOf } from "./sender-suite.js";

export const buy = { mediaBuyId: "mb-1", principal: "buyer-1" };

export const reporting = { url: HOOK, reporting_frequency: "hourly" } as const;

export const data = { currency: "EUR", media_buy_deliveries: [{ media_buy_id: "mb-1", status: "active" }] };

export const withReports = async (
  of: SenderCase,
  context: Context,
  reports: ReportSource,
  over: Partial<SenderOptions> = {},
) => {
  await context.sender.stop();
  context.sender = await of.open({
    ...(optionsFor(context.clock, context.network) as never as SenderOptions),
    reports,
    ...over,
  });
  return context.sender;
};

export const advance = async (context: Context, to: number): Promise<void> => {
  context.clock.at = to;
  await context.sender.channels.tick();
  await until(() => drained(context.sender));
};

export type ChannelSuite = ReturnType<typeof suiteOf>;

/** Reports that could not be made at their turn. */
export function owedReports(test: ChannelSuite, of: SenderCase): void {
  test("a report that is owed is not put off where its channel is registered anew, nor by who cannot make it", async (context) => {
    const { network } = context;
    let away = true;
    const source: ReportSource = () => {
      if (away) throw new Error("the source is away");
      return data;
    };
    const sender = await withReports(of, context, source);
    await sender.channels.open(buy, { reporting });
    context.clock.at = NOW + HOUR;
    await sender.channels.tick().catch(() => undefined);
    assert.equal(await sender.channels.open(buy, { reporting: { ...reporting, requested_metrics: ["spend"] } }), {
      ok: true,
    });
    away = false;
    context.clock.at += 60_000;
    const without = await withReports(of, context, undefined as never);
    await without.channels.tick();
    const again = await withReports(of, context, source);
    again.start();
    await again.channels.tick();
    await until(() => network.sent.length === 1);
    await noneOut(again);
    assert.equal(network.sent[0]!.body.result.reporting_period, {
      start: new Date(NOW).toISOString(),
      end: new Date(NOW + HOUR).toISOString(),
    });
  });
}

/** Reports of buys that have ended, and of periods whose data is late. */
export function finalReports(test: ChannelSuite, of: SenderCase): void {
  test("a delayed report names the turn that the next one is made at, however long nobody reported", async (context) => {
    const { network } = context;
    const sender = await withReports(of, context, () => ({ delayed: true, currency: "EUR" }));
    await sender.channels.open(buy, { reporting: daily });
    sender.start();
    await advance(context, Date.parse("2026-04-21T09:00:00Z"));
    await until(() => network.sent.length === 1);
    const expected = network.sent[0]!.body.result.next_expected_at;
    await advance(context, Date.parse("2026-04-21T23:59:00Z"));
    await noneOut(sender);
    assert.is(network.sent.length, 1);
    await advance(context, Date.parse(expected));
    await until(() => network.sent.length === 2);
    assert.is(expected, "2026-04-22T00:00:00.000Z");
  });

  test("the final report goes where its buy is registered by then, and nowhere once it is registered nowhere", async (context) => {
    const { network } = context;
    let away = true;
    const sender = await withReports(of, context, () => (away ? { delayed: true, currency: "EUR" } : data));
    const buys = [buy, { ...buy, mediaBuyId: "mb-2" }] as const;
    for (const one of buys) {
      await sender.channels.open(one, { reporting });
      await sender.channels.close(one.mediaBuyId);
    }
    sender.start();
    await sender.channels.tick();
    await until(() => network.sent.length === 2);
    const [moved, none] = buys;
    const url = "https://buyer.example/hooks/new";
    assert.equal(await sender.channels.open(moved, { reporting: { ...reporting, url } }), { ok: true });
    assert.equal(await sender.channels.open(none, { reporting: null }), { ok: true });
    away = false;
    await advance(context, context.clock.at + HOUR);
    await until(() => network.sent.length === 3);
    await noneOut(sender);
    assert.equal([network.sent.length, network.sent[2]!.url], [3, url]);
    assert.is(network.sent[2]!.body.result.notification_type, "final");
  });
}

const periodsOf = (context: Context) => context.network.sent.map(({ body }) => body.result.reporting_period);
const daily = { ...reporting, reporting_frequency: "daily" } as const;

/** Whose clocks reports go by. `NOW` is 14:00 UTC, 10:00 in New York. */
export function reportClocks(test: ChannelSuite, of: SenderCase): void {
  test("reports go by the clocks that a buy is reported in, wherever they go, and by others from when those are named", async (context) => {
    const sender = await withReports(of, context, () => data);
    const { channels } = sender;
    await channels.reportIn({ ...buy, principal: "buyer-2", mediaBuyId: "mb-2" }, "Asia/Tokyo");
    await channels.reportIn(buy, "America/New_York");
    await channels.reportIn({ ...buy, principal: "buyer-2" }, "Asia/Tokyo");
    assert.is(await codeOf(async () => channels.reportIn(buy, "Mars/Olympus")), "event_invalid");
    assert.equal(await channels.open(buy, { reporting: daily }), { ok: true });
    sender.start();
    await advance(context, Date.parse("2026-04-19T03:59:00Z"));
    assert.equal(periodsOf(context), []);
    await advance(context, Date.parse("2026-04-19T04:00:00Z"));
    const endpoint = endpointOf({ principal: buy.principal, url: HOOK });
    assert.is((await sender.outbox.move(endpoint, "https://buyer.example/hooks/moved")).registrations, 1);
    await advance(context, Date.parse("2026-04-20T04:00:00Z"));
    assert.equal(await channels.open(buy, { reporting: { ...daily, requested_metrics: ["spend"] } }), { ok: true });
    await channels.reportIn(buy, "Asia/Kolkata");
    await advance(context, Date.parse("2026-04-20T18:30:00Z"));
    await channels.reportIn(buy, "UTC");
    await advance(context, Date.parse("2026-04-21T00:00:00Z"));
    assert.equal(periodsOf(context), [
      { start: "2026-04-18T14:00:00.000Z", end: "2026-04-19T04:00:00.000Z", timezone: "America/New_York" },
      { start: "2026-04-19T04:00:00.000Z", end: "2026-04-20T04:00:00.000Z", timezone: "America/New_York" },
      { start: "2026-04-20T04:00:00.000Z", end: "2026-04-20T18:30:00.000Z", timezone: "Asia/Kolkata" },
      { start: "2026-04-20T18:30:00.000Z", end: "2026-04-21T00:00:00.000Z" },
    ]);
    await channels.close("mb-2");
    const next = { mediaBuyId: "mb-2", principal: "buyer-1" };
    assert.equal(await channels.open(next, { reporting }), { ok: true }, "nothing of it was left");
    await sender.stop();
  });

  test("what was owed by another frequency is told of the days that are over, and the rest at the turn of the new one", async (context) => {
    let away = true;
    const sender = await withReports(of, context, () => {
      if (away) throw new Error("the source is away");
      return data;
    });
    const open = async (reporting_frequency: "daily" | "monthly") =>
      assert.equal(await sender.channels.open(buy, { reporting: { ...reporting, reporting_frequency } }), { ok: true });
    await open("daily");
    context.clock.at = Date.parse("2026-04-20T10:00:00Z");
    await sender.channels.tick().catch(() => undefined);
    await open("monthly");
    away = false;
    sender.start();
    await advance(context, context.clock.at + 60_000);
    await advance(context, Date.parse("2026-05-01T00:00:00Z"));
    assert.equal(periodsOf(context), [
      { start: "2026-04-18T14:00:00.000Z", end: "2026-04-20T00:00:00.000Z" },
      { start: "2026-04-20T00:00:00.000Z", end: "2026-05-01T00:00:00.000Z" },
    ]);
    await sender.stop();
  });
}
