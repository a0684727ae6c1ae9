/** A seller whose ad server delivers steadily, and who hears its reports. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { startOfDay } from "../../runtime/calendar.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

const HOUR_MS = 3_600_000;
export const line = {
  product_id: "run_of_site_auction",
  pricing_option_id: "cpm_auction",
  budget: 1_000,
  bid_price: 3,
};

interface DeliveryDays {
  readonly from?: string | undefined;
  readonly before?: string | undefined;
  readonly timezone: string;
}

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
    async delivery(_: unknown, { from, before, timezone }: DeliveryDays) {
      asked.push(`${from} ${before}${timezone === "UTC" ? "" : ` ${timezone}`}`);
      const at = (text: string) => (text.length === 10 ? startOfDay(text, timezone) : Date.parse(text));
      const first = Math.max(Date.parse(start), at(from ?? start));
      const hours = Math.max(0, Math.floor((Math.min(now(), at(before ?? "2099-01-01")) - first) / HOUR_MS));
      const each = { impressions: 10 * hours, clicks: hours, spend: Math.round(10 * hours) / 100, conversions: 0 };
      return Object.fromEntries(packages.map((id) => [id, each]));
    },
  };
}

export /** @param reporting what a product says of its reports, or several do */
async function selling(
  version: string,
  reporting: JsonObject | readonly JsonObject[],
  more: Parameters<typeof behavingSeller>[2] = {},
) {
  const clock = { now: Date.parse("2026-10-24T12:00:00Z") };
  const now = () => clock.now;
  const adServer = steady("2026-10-24T12:00:00Z", now);
  const price = { pricing_option_id: "cpm_auction", pricing_model: "cpm", currency: "USD", floor_price: 1 };
  const product = (reporting_capabilities: JsonObject, at: number): Product => ({
    ...{ product_id: at === 0 ? line.product_id : `${line.product_id}_${at}`, name: "Run of site" },
    ...{ description: "Display, everywhere.", delivery_type: "non_guaranteed" },
    ...{ channels: ["display"], formats: ["display_300x250_image"] },
    ...{ pricing_options: [price], reporting_capabilities },
  });
  const catalogue = listedCatalogue([reporting].flat().map(product));
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

export const webhook = (port: number, more: object = {}) => ({
  url: `http://127.0.0.1:${port}/webhooks/reports/op_1`,
  operation_id: "op_1",
  reporting_frequency: "daily",
  authentication: { schemes: ["HMAC-SHA256"], credentials: randomBytes(32).toString("hex") },
  ...more,
});

export async function inboxOf() {
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

export interface Row {
  readonly status: string;
  readonly totals: { readonly spend: number; readonly impressions: number; readonly clicks?: number };
}

export const told = ({ notification_type: type, reporting_period: period, media_buy_deliveries: rows }: JsonObject) => {
  const { start, end } = period as { start: string; end: string };
  const [row] = rows as [Row];
  return [type, start.slice(5, 16), end.slice(5, 16), row.totals.spend];
};
