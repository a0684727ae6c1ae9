/** Reports by the clocks of the products that were bought: their days, their turns, and what the figures are asked for by. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { until } from "../support/until.js";
import { account, key, versions } from "./behaving-seller.js";
import { inboxOf, line, type Row, selling, told, webhook } from "./reporting-seller.js";

const windowed_pull_granularities = ["daily", "weekly", "monthly"];
const newYork = { timezone: "America/New_York", windowed_pull_granularities };
const kolkata = { timezone: "Asia/Kolkata", windowed_pull_granularities };
const second = { ...line, product_id: `${line.product_id}_1` };
const knowing = versions.filter((one) => one === "3.2.4");

interface Window extends Pick<Row, "totals"> {
  readonly window_start: string;
  readonly window_end: string;
}

for (const version of knowing) {
  test(`${version}: days that are asked for are those of the products' time zone, and so are windows`, async () => {
    const { ask, refused, close, clock, adServer, order } = await selling(version, newYork);
    const media_buy_ids = [await order({}, "2026-11-04T00:00:00Z")];
    clock.now = Date.parse("2026-11-02T12:00:00Z");
    const wanted = { media_buy_ids, start_date: "2026-10-31", end_date: "2026-11-02" };
    const windows = { time_granularity: "daily", include_window_breakdown: true };
    const more = { include_package_daily_breakdown: true };
    const said = await ask("get_media_buy_delivery", { ...wanted, ...windows, ...more });
    assert.equal(said.reporting_period, {
      ...{ start: "2026-10-31T04:00:00.000Z", end: "2026-11-02T05:00:00.000Z" },
      timezone: "America/New_York",
    });
    const [{ totals, windows: found, by_package }] = said.media_buy_deliveries;
    assert.is(totals.spend, 4.9, "a day of 24 hours and one of 25");
    assert.equal(
      (found as Window[]).map((one) => [one.window_start.slice(5, 16), one.window_end.slice(5, 16), one.totals.spend]),
      [
        ["10-31T04:00", "11-01T04:00", 2.4],
        ["11-01T04:00", "11-02T05:00", 2.5],
      ],
    );
    assert.equal(
      by_package[0].daily_breakdown.map(({ date, spend }: { date: string; spend: number }) => [date, spend]),
      [
        ["2026-10-31", 2.4],
        ["2026-11-01", 2.5],
      ],
    );
    assert.ok(adServer.asked.includes("2026-11-01 2026-11-02 America/New_York"));
    assert.is((await refused("get_media_buy_delivery", { ...wanted, end_date: "2026-10-31" })).field, "start_date");
    await close();
  });

  test(`${version}: what a test delivers on a day is of that day where the product is`, async () => {
    const { ask, close, clock, order } = await selling(version, newYork);
    const media_buy_id = await order({}, "2026-11-04T00:00:00Z");
    clock.now = Date.parse("2026-11-02T02:00:00Z");
    const params = { media_buy_id, impressions: 1_000_000, delivery_date: "2026-11-01" };
    await ask("comply_test_controller", { scenario: "simulate_delivery", params });
    const day = { media_buy_ids: [media_buy_id], start_date: "2026-11-01", end_date: "2026-11-02" };
    const [{ totals }] = (await ask("get_media_buy_delivery", day)).media_buy_deliveries;
    assert.ok(totals.impressions >= 1_000_000, String(totals.impressions));
    await close();
  });

  test(`${version}: days of several time zones are no one time: they are refused, and else each package has its own`, async () => {
    const { ask, refused, close, clock, order } = await selling(version, [newYork, kolkata]);
    const both = await order({ packages: [line, second] });
    const one = await order();
    clock.now = Date.parse("2026-10-25T12:00:00Z");
    const days = { start_date: "2026-10-24", end_date: "2026-10-25" };
    for (const media_buy_ids of [[both], [both, one]]) {
      const fault = await refused("get_media_buy_delivery", { media_buy_ids, ...days });
      assert.equal([fault.code, fault.field], ["VALIDATION_ERROR", "start_date"]);
    }
    await ask("get_media_buy_delivery", { media_buy_ids: [one], ...days });
    const daily = { media_buy_ids: [both], include_package_daily_breakdown: true };
    const { reporting_period: period, media_buy_deliveries: rows } = await ask("get_media_buy_delivery", daily);
    assert.is((period as JsonObject).timezone, undefined);
    const spent = rows[0].by_package.map((each: { daily_breakdown: readonly { date: string; spend: number }[] }) =>
      each.daily_breakdown.map(({ date, spend }) => [date, spend]),
    );
    assert.equal(spent, [
      [
        ["2026-10-24", 1.6],
        ["2026-10-25", 0.8],
      ],
      [
        ["2026-10-24", 0.6],
        ["2026-10-25", 1.8],
      ],
    ]);
    await close();
  });

  test(`${version}: reports are sent when the products' days end, and name their clocks; no figure is told of twice`, async () => {
    const { ask, start, close, clock, order } = await selling(version, [newYork, kolkata]);
    const inbox = await inboxOf();
    await start();
    const media_buy_id = await order({ reporting_webhook: webhook(inbox.port) }, "2026-10-27T00:00:00Z");
    for (const [at, count] of [
      ["2026-10-25T04:00:01Z", 1],
      ["2026-10-26T04:00:01Z", 2],
    ] as const) {
      clock.now = Date.parse(at);
      await until(() => inbox.arrived.length === count);
    }
    await ask("update_media_buy", { ...key(), account, media_buy_id, new_packages: [second] });
    clock.now = Date.parse("2026-10-27T04:00:01Z");
    await until(() => inbox.arrived.length === 3);
    assert.equal(inbox.arrived.map(told), [
      ["scheduled", "10-24T12:00", "10-25T04:00", 1.6],
      ["scheduled", "10-25T04:00", "10-26T04:00", 2.4],
      ["final", "10-26T04:00", "10-27T04:00", 2.4],
    ]);
    const zones = inbox.arrived.map(({ reporting_period: period }) => (period as JsonObject).timezone);
    assert.equal(new Set(zones), new Set(["America/New_York"]), "what is added is told of by the clocks of the rest");
    inbox.close();
    await close();
  });

  test(`${version}: a product that is reported in no time zone there is is told as the catalogue's fault`, async () => {
    const { refused, close } = await selling(version, { timezone: "Mars/Olympus" });
    const wanted = { ...key(), account, brand: { domain: "acme.example" }, packages: [line] };
    const times = { start_time: "asap", end_time: "2026-10-28T00:00:00Z" };
    assert.is((await refused("create_media_buy", { ...wanted, ...times })).code, "CONFIGURATION_ERROR");
    await close();
  });
}

for (const version of versions.filter((one) => one !== "3.2.4"))
  test(`${version}: periods are UTC's, as the release says, whatever a product says`, async () => {
    const { ask, close, clock, adServer, order } = await selling(version, newYork);
    const media_buy_ids = [await order()];
    clock.now = Date.parse("2026-10-26T12:00:00Z");
    const day = { media_buy_ids, start_date: "2026-10-25", end_date: "2026-10-26" };
    const { reporting_period: period, media_buy_deliveries: rows } = await ask("get_media_buy_delivery", day);
    assert.equal(period, { start: "2026-10-25T00:00:00.000Z", end: "2026-10-26T00:00:00.000Z" });
    assert.equal([rows[0].totals.spend, adServer.asked.at(-1)], [2.4, "2026-10-25 2026-10-26"]);
    await close();
  });

test.run();
