/** What a fuzzed seller sells: the example's products, reported by several clocks, by the hour and in windows. */
import { listedCatalogue } from "../../runtime/behaviours/index.js";
import { exampleProducts } from "../../runtime/behaviours/ports/example-catalogue.js";

const reported = [
  { timezone: "America/New_York", windowed_pull_granularities: ["hourly", "daily", "monthly"] },
  { timezone: "Asia/Kolkata", available_reporting_frequencies: ["hourly", "daily", "monthly"] },
  {},
  { timezone: "Africa/Cairo", date_range_support: "lifetime_only" },
];

export const fuzzedCatalogue = listedCatalogue(
  exampleProducts.map((one, at) => ({
    ...one,
    reporting_capabilities: { ...one.reporting_capabilities, ...reported[at % reported.length] },
  })),
);
