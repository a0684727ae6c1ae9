/** The reports you owe of themselves, one for every period that ends: what they are of, and what happened. */
import { createHash } from "node:crypto";
import type { ReportFeed, Reporting } from "adbind/behaviours";

/** What a row is; publish it where `uri` says, just as it is. */
const row = JSON.stringify({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["package_id", "impressions", "spend"],
});
const published = {
  uri: "https://reports.example.com/row.json",
  sha256: createHash("sha256").update(row).digest("hex"),
};

const daily: ReportFeed = {
  id: "daily",
  version: 1,
  purpose: "analytics",
  definition: { id: "by_package", ...published },
  profile: { id: "rows", version: "1", grain: "package", primaryKeys: ["package_id"], ...published },
  schedule: { period: "P1D", timezone: "America/New_York", slaSeconds: 4 * 3600 },
  finality: "snapshot",
  since: "2026-11-01T04:00:00.000Z",
  mediaBuyIds: [],
  packageIds: [],
};

export const reporting: Reporting = {
  offered: [daily],
  // The ad server's figures are what `get_media_buy_delivery` answers.
  delivery: async () => undefined,
  feeds: async () => [daily],
  // Nothing ran. Answer undefined while you do not know yet: the report is late then, and says so.
  report: async () => ({ rows: [], totals: [] }),
};
