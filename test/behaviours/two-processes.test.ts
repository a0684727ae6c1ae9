/** Two processes of one seller on one PostgreSQL: each reads and changes what the other wrote, and nothing is lost between them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AudienceChange } from "../../runtime/behaviours/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { account, behavingSeller, brand, key, type TestSeller, versions } from "./behaving-seller.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const LINES = 4;
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const order = () => ({
  ...key(),
  account,
  brand,
  start_time: "2099-01-01T00:00:00Z",
  end_time: "2099-02-01T00:00:00Z",
  packages: Array.from({ length: LINES }, () => line),
});

interface Line {
  readonly package_id: string;
  readonly budget: number;
}

async function found({ ask }: TestSeller, id: string) {
  const { media_buys: buys } = await ask("get_media_buys", { account, media_buy_ids: [id] });
  const { packages, status, revision } = buys[0];
  return { lines: packages as Line[], status, revision };
}

const change = ({ ask }: TestSeller, media_buy_id: string, what: object) =>
  ask("update_media_buy", { ...key(), account, media_buy_id, ...what });

for (const version of versions) {
  /** As processes that start together on a database that has no tables yet. */
  async function two(more: Parameters<typeof behavingSeller>[2] = {}): Promise<[TestSeller, TestSeller]> {
    const database = await postgres.database();
    const open = () =>
      behavingSeller(version, ["sales_non_guaranteed"], {
        ...more,
        database,
        // A busy machine keeps a repetition waiting.
        limits: { calls: false, inFlightWaitMs: 60_000 },
      });
    return Promise.all([open(), open()]);
  }

  test(`${version}: an order made at one is read and changed at the other, and the first knows at once`, async () => {
    const [one, other] = await two();
    const { media_buy_id: id } = await one.ask("create_media_buy", order());
    const [first] = (await found(other, id)).lines;
    assert.is(first!.budget, 500);
    await change(other, id, { packages: [{ package_id: first!.package_id, budget: 900 }] });
    assert.is((await found(one, id)).lines.find(({ package_id }) => package_id === first!.package_id)?.budget, 900);
    await change(one, id, { canceled: true, cancellation_reason: "no longer wanted" });
    assert.is((await found(other, id)).status, "canceled");
    for (const seller of [one, other]) await seller.close();
  });

  test(`${version}: changes at both at once are all made; repetitions at both are one order`, async () => {
    const [one, other] = await two();
    const wanted = order();
    const made = await Promise.all([one, other, one, other].map(({ ask }) => ask("create_media_buy", wanted)));
    const [id] = new Set(made.map(({ media_buy_id }) => media_buy_id as string));
    assert.equal(
      made.map(({ media_buy_id }) => media_buy_id),
      made.map(() => id),
    );
    const before = await found(one, id!);
    const budgets = before.lines.map(({ package_id }, at) => ({ package_id, budget: 600 + at }));
    await Promise.all(budgets.map((budget, at) => change([one, other][at % 2]!, id!, { packages: [budget] })));
    for (const seller of [one, other]) {
      const { lines, revision } = await found(seller, id!);
      assert.equal(
        lines.map(({ package_id, budget }) => ({ package_id, budget })),
        budgets,
      );
      assert.is(revision - before.revision, LINES, "each change counts");
    }
    // With the revision it was made on, a change that another has overtaken is refused.
    const { revision } = await found(one, id!);
    const raced = await Promise.all(
      [one, other].map((seller, at) =>
        change(seller, id!, { revision, packages: [{ ...budgets[0]!, budget: 700 + at }] }).then(
          () => 700 + at,
          (error: Error) => assert.match(error.message, "CONFLICT"),
        ),
      ),
    );
    const kept = raced.filter((budget) => budget !== undefined);
    assert.is(kept.length, 1);
    assert.is((await found(other, id!)).lines[0]!.budget, kept[0]);
    for (const seller of [one, other]) await seller.close();
  });

  test(`${version}: audiences that are synced at both at once have one name at who knows their people, and all of them`, async () => {
    const told = new Map<string, AudienceChange>();
    const both = { waiting: [] as (() => void)[] };
    const audiences = {
      async change(audience: AudienceChange, { idempotencyKey }: { readonly idempotencyKey: string }) {
        // As who makes a change once under its key, whatever it says the second time.
        if (!told.has(idempotencyKey)) told.set(idempotencyKey, audience);
        if (both.waiting.length > 1) return;
        await new Promise<void>((resolve) => {
          both.waiting.push(resolve);
          if (both.waiting.length === 2) for (const go of both.waiting) go();
        });
      },
    };
    const sellers = await two({ with: ["audiences"], ports: { audiences } });
    const answers = await Promise.all(
      sellers.map(({ ask }, at) => {
        const add = [{ external_id: `u${at}`, hashed_email: String(at).repeat(64) }];
        return ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "walkers", add }] });
      }),
    );
    const [kept] = (await sellers[0].ask("sync_audiences", { ...key(), account })).audiences;
    assert.is(kept.total_uploaded_count, 2);
    const names = new Set([...told.values()].map(({ seller_id }) => seller_id));
    assert.equal([...names], [kept.seller_id]);
    assert.equal(answers.map(({ audiences: [one] }) => one.action).sort(), ["created", "updated"]);
    for (const seller of sellers) await seller.close();
  });
}

test.run();
