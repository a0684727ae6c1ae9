/** What the books of a seller hold of the webhooks that its buyers register: nothing that signs one. */
import path from "node:path";
import Database from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { tempFolder } from "../support/release.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const folder = tempFolder();
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const credentials = (name: string): string => `${name}-0c5d29f1b7a84e63d2f09a71c8b3e4f5`;
const webhook = (name: string) => ({
  url: "https://buyer.example/reports",
  operation_id: name,
  token: `token-of-${name}-0123`,
  authentication: { schemes: ["HMAC-SHA256"], credentials: credentials(name) },
});

for (const version of versions)
  test(`${version}: a media buy keeps no secret of where it is reported on, made or changed`, async () => {
    const file = path.join(folder, `${version}.db`);
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      database: `sqlite:${file}`,
    });
    const reported = (name: string) => ({ ...webhook(name), reporting_frequency: "daily" });
    const { media_buy_id } = await ask("create_media_buy", {
      ...{ ...key(), account, brand, packages: [line] },
      ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
      reporting_webhook: reported("made"),
      artifact_webhook: { ...reported("artifacts"), delivery_mode: "batched", batch_frequency: "daily" },
    });
    await ask("update_media_buy", { ...key(), account, media_buy_id, reporting_webhook: reported("changed") });
    await close();
    const kept = new Database(file);
    const tables = kept.prepare("select name from sqlite_master where type = 'table'").pluck().all() as string[];
    const rows = JSON.stringify(tables.map((table) => kept.prepare(`select * from ${table}`).all()));
    kept.close();
    assert.match(rows, media_buy_id);
    for (const name of ["made", "changed", "artifacts"])
      for (const secret of [credentials(name), `token-of-${name}-0123`]) assert.not.match(rows, secret);
  });

test.run();
