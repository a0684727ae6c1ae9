/** Figures as reports show them, and those of them that a buyer wants. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DeliveredTotals } from "../ports/ad-server.js";

export const metrics = ({ impressions, clicks, spend, conversions, views }: DeliveredTotals): JsonObject => ({
  impressions,
  spend,
  clicks,
  ...(impressions > 0 && { ctr: Math.min(1, Math.round((clicks / impressions) * 1e6) / 1e6) }),
  ...(conversions > 0 && { conversions, cost_per_acquisition: Math.round((spend / conversions) * 1e4) / 1e4 }),
  ...(views !== undefined && {
    views,
    completed_views: views,
    ...(impressions > 0 && { completion_rate: Math.min(1, Math.round((views / impressions) * 1e4) / 1e4) }),
  }),
});

/** What holds a metric that has no field of its own. */
const holders: Readonly<Record<string, string>> = {
  ...{ viewable_rate: "viewability", viewable_impressions: "viewability", measurable_impressions: "viewability" },
  ...{ viewed_seconds: "viewability", viewed_seconds_percentiles: "viewability" },
  viewed_seconds_histogram: "viewability",
  ...{ quartile_25: "quartile_data", quartile_50: "quartile_data" },
  ...{ quartile_75: "quartile_data", quartile_100: "quartile_data" },
};

/** Names of parts of what is viewed, as their holder has them. */
const quartiles: Readonly<Record<string, string>> = {
  ...{ quartile_25: "q1_views", quartile_50: "q2_views", quartile_75: "q3_views", quartile_100: "q4_views" },
};

/** The value of a metric of a row, wherever it stands; undefined where it has none. */
export function metricOf(row: JsonObject, name: string): number | undefined {
  const holder = holders[name] === undefined ? row : row[holders[name]];
  const value = isJsonObject(holder) ? holder[quartiles[name] ?? name] : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Leaves the metrics out of a row that were not asked for; impressions and spend stay, and so does what is no metric. */
export type Narrowing = (row: JsonObject) => JsonObject;

/** @param wanted names of metrics; all where it is left out or empty */
export function narrowedTo({ shapes }: BehaviourCall, wanted: readonly string[] | undefined): Narrowing {
  if (wanted === undefined || wanted.length === 0) return (row) => row;
  const path = ["reporting_webhook", "requested_metrics", "*"] as const;
  const known = new Set(shapes.request("create_media_buy").values(...path));
  const kept = new Set(["impressions", "spend", ...wanted.map((name) => holders[name] ?? name)]);
  return (row) => Object.fromEntries(Object.entries(row).filter(([name]) => !known.has(name) || kept.has(name)));
}
