/** Reports that are sent, and windows that are asked for: each figure is told of once, in the release of who registered. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { type JsonObject, shortVersion } from "../../runtime/contract/index.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, publishedRelease, versions } from "./behaving-seller.js";

const HOUR_MS = 3_600_000;
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };

/** An ad server that spends 0.1 an hour, and counts 10 impressions, from the start of its order on. */
function steady(start: string, now: () => number) {
  const packages: string[] = [];
  const asked: string[] = [];
  const nothing = async () => undefined;
  return {
    packages,
    asked,
    book: async () => ({ orderId: "o1" }),
    ...{ change: nothing, pause: nothing, resume: nothing, cancel: nothing },
    async delivery(_: unknown, { from, before }: { from?: string | undefined; before?: string | undefined }) {
      asked.push(`${from} ${before}`);
      const first = Math.max(Date.parse(start), Date.parse(from ?? start));
      const hours = Math.max(0, Math.floor((Math.min(now(), Date.parse(before ?? "2099-01-01")) - first) / HOUR_MS));
      const each = { impressions: 10 * hours, clicks: hours, spend: Math.round(10 * hours) / 100, conversions: 0 };
      return Object.fromEntries(packages.map((id) => [id, each]));
    },
  };
}

async function selling(version: string, reporting: JsonObject, more: Parameters<typeof behavingSeller>[2] = {}) {
  const clock = { now: Date.parse("2026-10-24T12:00:00Z") };
  const now = () => clock.now;
  const adServer = steady("2026-10-24T12:00:00Z", now);
  const price = { pricing_option_id: "cpm_auction", pricing_model: "cpm", currency: "USD", floor_price: 1 };
  const product: Product = {
    ...{ product_id: line.product_id, name: "Run of site", description: "Display, everywhere." },
    ...{ delivery_type: "non_guaranteed", channels: ["display"], formats: ["display_300x250_image"] },
    ...{ pricing_options: [price], reporting_capabilities: reporting },
  };
  const catalogue = listedCatalogue([product]);
  const ports = { adServer, catalogue };
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports, now, ...more });
  const order = async (asked: object = {}, end_time = "2026-10-28T00:00:00Z") => {
    const times = { start_time: "asap", end_time };
    const wanted = { ...key(), account, brand, ...times, packages: [line], ...asked };
    const { media_buy_id, packages } = await seller.ask("create_media_buy", wanted);
    adServer.packages.push(...packages.map(({ package_id }: { package_id: string }) => package_id));
    return media_buy_id as string;
  };
  return { ...seller, clock, adServer, order };
}

const webhook = (port: number, more: object = {}) => ({
  url: `http://127.0.0.1:${port}/webhooks/reports/op_1`,
  operation_id: "op_1",
  reporting_frequency: "daily",
  authentication: { schemes: ["HMAC-SHA256"], credentials: randomBytes(32).toString("hex") },
  ...more,
});

async function inboxOf() {
  const arrived: JsonObject[] = [];
  const inbox = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    arrived.push((JSON.parse(Buffer.concat(chunks).toString()) as { result: JsonObject }).result);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(inbox, "listening");
  const close = (): void => {
    inbox.closeAllConnections();
    inbox.close();
  };
  return { arrived, close, port: (inbox.address() as AddressInfo).port };
}

interface Row {
  readonly status: string;
  readonly totals: { readonly spend: number; readonly impressions: number; readonly clicks?: number };
}

const told = ({ notification_type: type, reporting_period: period, media_buy_deliveries: rows }: JsonObject) => {
  const { start, end } = period as { start: string; end: string };
  const [row] = rows as [Row];
  return [type, start.slice(5, 16), end.slice(5, 16), row.totals.spend];
};

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
