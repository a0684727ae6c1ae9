/** Who is told of an account, as two processes are told it at once. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);
const ROUNDS = 6;

const listener = (subscriber_id: string) => ({
  ...{ subscriber_id, url: `https://${subscriber_id}.example/hook`, event_types: ["creative.status_changed"] },
  active: false,
  authentication: { schemes: ["HMAC-SHA256"], credentials: randomBytes(32).toString("hex") },
});

interface Line {
  readonly action: string;
  readonly revision: number;
}

for (const [engine, database] of there ? Object.entries(databases) : [])
  test(`${engine}: each set of listeners that is taken is a revision of its account, whoever else gives one`, async () => {
    const shared = await database();
    const limits = { calls: false as const, inFlightWaitMs: 60_000 };
    const open = () => behavingSeller(version, ["sales_non_guaranteed"], { database: shared, limits });
    const sellers = await Promise.all([open(), open()]);
    const [{ ask }] = sellers;
    const opened = { brand, operator: account.operator, billing: "operator" };
    await ask("sync_accounts", { ...key(), accounts: [opened] });
    const revision = async (): Promise<number> => (await ask("list_accounts", {})).accounts[0].revision;
    for (let round = 0; round < ROUNDS; round++) {
      const before = await revision();
      const given = await Promise.all(
        [...sellers, ...sellers].map((one, index) => {
          const notification_configs = [listener(`r${round}-${index}`)];
          return one.ask("sync_accounts", { ...key(), accounts: [{ account, notification_configs }] });
        }),
      );
      const lines = given.map(({ accounts }): Line => accounts[0]).filter(({ action }) => action !== "failed");
      assert.equal(
        lines.map(({ action }) => action),
        lines.map(() => "updated"),
      );
      assert.is(await revision(), before + lines.length);
    }
    for (const seller of sellers) await seller.close();
  });

test.run();
