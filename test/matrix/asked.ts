/** What is asked for in a buyer's life, and what an answer must have in it. */
import type { Json } from "../../generator/model/shape.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import type { JsonRecord } from "../support/known.js";

const DAY_MS = 86_400_000;
export const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
export const BRAND = { domain: "acmeoutdoor.example" };
export const OPERATOR = "pinnacle.example";
export const BUDGET = 10_000;

/** What a buyer's governance is to hold him to. */
export const PLAN = {
  plan_id: "plan_of_the_season",
  brand: BRAND,
  objectives: "Outdoor gear for the season.",
  budget: { total: 10 * BUDGET, currency: "USD", reallocation_unlimited: true },
  flight: { start: day(1), end: day(60) },
  countries: ["US"],
};

export type Row = Readonly<Record<string, Json>>;

export const rows = (value: unknown): Row[] => (Array.isArray(value) ? (value as Row[]) : []);

/** What an asset of a type is, for whoever takes it. */
export const ASSETS: Readonly<Record<string, JsonRecord>> = {
  image: { url: "https://cdn.acmeoutdoor.example/a.png", width: 300, height: 250, format: "png" },
  video: { url: "https://cdn.acmeoutdoor.example/a.mp4", width: 1920, height: 1080, duration_ms: 15_000 },
  audio: { url: "https://cdn.acmeoutdoor.example/a.mp3", duration_ms: 30_000 },
  url: { url: "https://acmeoutdoor.example/" },
  text: { content: "Go outdoors." },
  html: { content: "<p>Go outdoors.</p>" },
};

/** Lists that a life goes on from: a seller of nothing is none. */
const OFFERS: Readonly<Record<string, string>> = {
  get_products: "products",
  get_signals: "signals",
  get_rights: "rights",
  sync_event_sources: "event_sources",
  sync_plans: "plans",
  list_creative_formats: "formats",
  list_transformers: "transformers",
  get_media_buys: "media_buys",
  get_media_buy_delivery: "media_buy_deliveries",
};

/** @returns what is wrong with an answer that was given: it did nothing, or has nothing in it */
export function hollowness(step: string, data: JsonObject): string | undefined {
  const list = OFFERS[step];
  if (list !== undefined && rows(data[list]).length === 0) return `answered without ${list}`;
  for (const [name, value] of Object.entries(data))
    for (const item of rows(value))
      if (item?.action === "failed" || (step.startsWith("sync_") && rows(item?.errors).length > 0))
        return `${name}: ${JSON.stringify(item)}`;
  if (step === "acquire_rights" && data.rights_status === "rejected") return `no licence: ${data.reason}`;
  if (step === "cancel" && ![data.status, data.media_buy_status].includes("canceled"))
    return `it is not canceled: ${JSON.stringify(data)}`;
  return undefined;
}

/** The same request as somebody would mean it: of a flight that is to come, and with money for what is bought. */
export function meant(value: Json): Json {
  if (Array.isArray(value)) return value.map(meant);
  if (typeof value !== "object" || value === null) return value;
  const days: Readonly<Record<string, string>> = { start_time: day(2), end_time: day(32) };
  const bought = "product_id" in value && "pricing_option_id" in value;
  return Object.fromEntries(
    Object.entries({ ...(bought && { budget: BUDGET }), ...value }).map(([name, one]) => [
      name,
      typeof one === "string" ? (days[name] ?? one) : meant(one),
    ]),
  );
}
