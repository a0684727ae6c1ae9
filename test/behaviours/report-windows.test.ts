/** Reports that are sent, and windows that are asked for: each figure is told of once, in the release of who registered. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type JsonObject, shortVersion } from "../../runtime/contract/index.js";
import { until } from "../support/until.js";
import { account, brand, key, publishedRelease, versions } from "./behaving-seller.js";
import { inboxOf, line, type Row, selling, told, webhook } from "./reporting-seller.js";

for (const version of versions) {
  test(`${version}: reports of days are each of their own day, and what is over is told of once more, as final`, async () => {
    const { ask, start, close, clock, order } = await selling(version, {});
    const inbox = await inboxOf();
    await start();
    const reporting_webhook = webhook(inbox.port, { requested_metrics: ["spend"] });
    const media_buy_id = await order({ reporting_webhook }, "2026-10-26T00:00:00Z");
    for (const [at, count] of [
      ["2026-10-25T00:00:01Z", 1],
      ["2026-10-26T00:00:01Z", 2],
    ] as const) {
      clock.now = Date.parse(at);
      await until(() => inbox.arrived.length === count);
    }
    const [{ totals }] = (await ask("get_media_buy_delivery", { media_buy_ids: [media_buy_id] })).media_buy_deliveries;
    assert.equal(inbox.arrived.map(told), [
      ["scheduled", "10-24T12:00", "10-25T00:00", 1.2],
      ["final", "10-25T00:00", "10-26T00:00", 2.4],
    ]);
    assert.is(totals.spend, 3.6, "what the reports come to");
    const rows = inbox.arrived.map(({ media_buy_deliveries: all }) => (all as [Row])[0]);
    assert.equal(
      [rows[0]!.totals.clicks, rows[1]!.status],
      [undefined, "completed"],
      "what was asked for, and no more",
    );
    inbox.close();
    await close();
  });

  test(`${version}: reports come as often as the products have them, by the hour too`, async () => {
    const { refused, ask, start, close, clock, order, adServer } = await selling(version, {
      available_reporting_frequencies: ["hourly", "daily"],
    });
    const inbox = await inboxOf();
    const monthly = { reporting_webhook: webhook(inbox.port, { reporting_frequency: "monthly" }) };
    const times = { start_time: "asap", end_time: "2026-10-28T00:00:00Z" };
    const never = { ...key(), account, brand, ...times, packages: [line], ...monthly };
    assert.is((await refused("create_media_buy", never)).field, "reporting_webhook.reporting_frequency");
    await start();
    const hourly = { reporting_webhook: webhook(inbox.port, { reporting_frequency: "hourly" }) };
    const media_buy_id = await order(hourly);
    const change = { ...key(), account, media_buy_id, ...monthly };
    assert.is((await refused("update_media_buy", change)).field, "reporting_webhook.reporting_frequency");
    clock.now = Date.parse("2026-10-24T13:00:01Z");
    await until(() => inbox.arrived.length === 1);
    const daily = { reporting_webhook: webhook(inbox.port) };
    await ask("update_media_buy", { ...key(), account, media_buy_id, ...daily });
    clock.now = Date.parse("2026-10-25T00:00:01Z");
    await until(() => inbox.arrived.length === 2);
    assert.equal(inbox.arrived.map(told), [
      ["scheduled", "10-24T12:00", "10-24T13:00", 0.1],
      ["scheduled", "10-24T13:00", "10-25T00:00", 1.1],
    ]);
    assert.ok(adServer.asked.includes("2026-10-24T12:00:00.000Z 2026-10-24T13:00:00.000Z"));
    inbox.close();
    await close();
  });

  test(`${version}: windows that a product has are what its reports were, and part the time asked for`, async () => {
    const windowed_pull_granularities = ["hourly", "daily", "monthly"];
    const { ask, close, clock, order } = await selling(version, { windowed_pull_granularities });
    const media_buy_id = await order();
    clock.now = Date.parse("2026-10-26T06:00:00Z");
    const asked = { media_buy_ids: [media_buy_id], time_granularity: "daily", include_window_breakdown: true };
    const pull = async (more: object = {}) =>
      (await ask("get_media_buy_delivery", { ...asked, ...more })).media_buy_deliveries[0];
    const { totals, windows } = await pull();
    if (version.startsWith("3.0")) assert.is(windows, undefined);
    else {
      interface Window extends Pick<Row, "totals"> {
        readonly window_start: string;
        readonly window_end: string;
        readonly by_package: readonly { readonly spend: number }[];
      }
      const shown = (all: readonly Window[]) =>
        all.map((one) => [one.window_start.slice(5, 16), one.window_end.slice(5, 16), one.totals.spend]);
      assert.equal(shown(windows), [
        ["10-24T12:00", "10-25T00:00", 1.2],
        ["10-25T00:00", "10-26T00:00", 2.4],
        ["10-26T00:00", "10-26T06:00", 0.6],
      ]);
      assert.equal([totals.spend, windows[0].by_package[0].spend], [4.2, 1.2]);
      const day = { start_date: "2026-10-25", end_date: "2026-10-26", time_granularity: "hourly" };
      const hours = (await pull(day)).windows as Window[];
      assert.equal(
        [hours.length, hours[0]!.totals.spend, hours[23]!.window_end],
        [24, 0.1, "2026-10-26T00:00:00.000Z"],
      );
      assert.is((await pull({ include_window_breakdown: false })).windows, undefined);
    }
    await close();
  });
}

for (const version of versions)
  test(`${version}: days are refused of what has figures of its whole time only`, async () => {
    const { ask, refused, close, order } = await selling(version, { date_range_support: "lifetime_only" });
    const media_buy_ids = [await order()];
    await ask("get_media_buy_delivery", { media_buy_ids });
    for (const day of [{ start_date: "2026-10-24" }, { end_date: "2026-10-26" }])
      assert.is((await refused("get_media_buy_delivery", { media_buy_ids, ...day })).field, "start_date");
    await close();
  });

if (versions.length > 0)
  test("a report has what the release has that it was registered in", async () => {
    const releases = await Promise.all(["3.1.19", "3.0.26"].map(publishedRelease));
    const { ask, start, close, clock, order } = await selling("3.2.4", {}, { releases });
    const inbox = await inboxOf();
    await start();
    const seen: string[] = [];
    for (const version of ["3.2.4", "3.0.26"]) {
      const pin = { adcp_version: shortVersion(version), adcp_major_version: 3 };
      const id = await order({ ...pin, reporting_webhook: webhook(inbox.port) });
      seen.push(id);
    }
    clock.now = Date.parse("2026-10-25T00:00:01Z");
    await until(() => inbox.arrived.length === 2);
    const rows = inbox.arrived.map(({ media_buy_deliveries: all }) => (all as [JsonObject])[0]);
    const currencies = seen.map((id) => rows.find(({ media_buy_id }) => media_buy_id === id)?.currency);
    assert.equal(currencies, ["USD", undefined], "3.0 has no currency of one buy");
    await ask("get_media_buy_delivery", { media_buy_ids: seen });
    inbox.close();
    await close();
  });

test.run();
