/** Reports that are owed, and those of buys that have ended, on every store; and what cases of channels share. */
import * as assert from "uvu/assert";
import type { ReportSource, SenderOptions } from "../../runtime/sender/index.js";
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

/** Reports of buys that have ended. */
export function finalReports(test: ChannelSuite, of: SenderCase): void {
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
