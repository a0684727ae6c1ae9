/** Money that was spent stays spent, and what was not is given back; what has run has run. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, versions, versionsWith } from "./behaving-seller.js";
import { checkIntent, deniedByPlan, governedOrder, governedSeller, packagesOver } from "./governed-seller.js";

/** An ad server of which each package has cost what is said here. */
function costing() {
  const spent: Record<string, number> = {};
  const done = async () => undefined;
  const adServer = {
    book: async () => ({ orderId: "o1" }),
    ...{ change: done, pause: done, resume: done, cancel: done },
    delivery: async () =>
      Object.fromEntries(
        Object.entries(spent).map(([id, spend]) => [id, { impressions: 1, clicks: 0, spend, conversions: 0 }]),
      ),
  };
  return { spent, adServer };
}

for (const version of await versionsWith("governance_spend_authority")) {
  test(`${version}: a package that is canceled has cost what it delivered: another as large is more money`, async () => {
    const { spent, adServer } = costing();
    const seller = await governedSeller(version, 10_000, { ports: { adServer } });
    const { governance_context } = await checkIntent(seller, version, { budget: 9_000 });
    const { media_buy_id, packages } = await seller.ask(
      "create_media_buy",
      governedOrder(9_000, governance_context),
      "one",
    );
    const [{ package_id }] = packages;
    spent[package_id] = 6_000;
    const named = { account, media_buy_id };
    const swapped = (budget: number) => ({
      ...{ ...key(), ...named, packages: [{ package_id, canceled: true }] },
      new_packages: packagesOver(budget),
    });
    await deniedByPlan(seller, "update_media_buy", swapped(9_000), "6,000 is spent, of 10,000");
    const lessened = {
      ...key(),
      ...named,
      packages: [{ package_id, budget: 1_000 }],
      new_packages: packagesOver(8_000),
    };
    await deniedByPlan(seller, "update_media_buy", lessened, "a budget below what it has cost gives nothing back");
    await seller.ask("update_media_buy", swapped(3_000), "one");
    await seller.close();
  });

  test(`${version}: an order that the ad server has ended is over, and gives back what it has not cost`, async () => {
    const { spent, adServer } = costing();
    let state: "completed" | "rejected" | undefined;
    const booked: string[] = [];
    const ending = {
      ...adServer,
      async state({ orderId }: { readonly orderId: string }) {
        if (orderId === booked[0]) throw new Error("the ad server is away");
        return state;
      },
      book: async (_: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
        booked.push(idempotencyKey);
        return { orderId: idempotencyKey };
      },
    };
    const seller = await governedSeller(version, 10_000, { ports: { adServer: ending } });
    const orders = [governedOrder(4_000), governedOrder(5_000)];
    const [, { media_buy_id, packages }] = [
      await seller.ask("create_media_buy", orders[0]!, "one"),
      await seller.ask("create_media_buy", orders[1]!, "one"),
    ];
    spent[packages[0].package_id] = 2_000;
    await deniedByPlan(seller, "create_media_buy", governedOrder(4_000), "9,000 is bound, of 10,000");
    state = "rejected";
    await seller.start();
    const shown = async () =>
      (await seller.ask("get_media_buys", { account, media_buy_ids: [media_buy_id] }, "one")).media_buys[0];
    await until(async () => JSON.stringify(await shown()).includes('"rejected"'));
    // The first that was asked for failed, and goes on: 4,000 of it, and 2,000 of the other, are bound.
    await deniedByPlan(seller, "create_media_buy", governedOrder(4_001), "6,000 is bound, of 10,000");
    await seller.ask("create_media_buy", governedOrder(4_000), "one");
    const over = await seller.refused("update_media_buy", { ...key(), account, media_buy_id, paused: true }, "one");
    assert.is(over.code, "INVALID_STATE");
    await seller.close();
  });

  test(`${version}: an order without a token that is canceled gives back what it has not cost`, async () => {
    const { spent, adServer } = costing();
    const seller = await governedSeller(version, 10_000, { ports: { adServer } });
    const { media_buy_id, packages } = await seller.ask("create_media_buy", governedOrder(9_000), "one");
    spent[packages[0].package_id] = 2_000;
    await deniedByPlan(seller, "create_media_buy", governedOrder(5_000), "9,000 is bound, of 10,000");
    await seller.ask("update_media_buy", { ...key(), account, media_buy_id, canceled: true }, "one");
    await deniedByPlan(seller, "create_media_buy", governedOrder(8_001), "2,000 is spent, of 10,000");
    await seller.ask("create_media_buy", governedOrder(8_000), "one");
    await seller.close();
  });
}

for (const version of versions)
  test(`${version}: a buy that runs cannot begin or end anew in the past`, async () => {
    let now = Date.parse("2026-11-01T12:00:00Z");
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { now: () => now });
    const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
    const times = { start_time: "asap", end_time: "2026-12-01T00:00:00Z" };
    const { media_buy_id, packages } = await ask("create_media_buy", {
      ...{ ...key(), account, brand, packages: [line] },
      ...times,
    });
    const [{ package_id }] = packages;
    now = Date.parse("2026-11-11T12:00:00Z");
    const change = (more: object) => ({ ...key(), account, media_buy_id, ...more });
    for (const [more, field] of [
      [{ end_time: "2026-11-05T00:00:00Z" }, "end_time"],
      [{ start_time: "2026-10-01T00:00:00Z" }, "start_time"],
      [{ packages: [{ package_id, end_time: "2026-11-05T00:00:00Z" }] }, "packages[0].end_time"],
    ] as const) {
      const { code, field: at } = await refused("update_media_buy", change(more));
      assert.equal([code, at], ["INVALID_REQUEST", field]);
    }
    const same = { start_time: "2026-11-01T12:00:00Z", end_time: "2026-11-20T00:00:00Z" };
    await ask("update_media_buy", change(same));
    await close();
  });

for (const version of versions)
  test(`${version}: a budget is not lowered below what its package has cost, in whatever words`, async () => {
    const { spent, adServer } = costing();
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { adServer } });
    const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
    const flight = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
    const order = { ...key(), account, brand, packages: [line], ...flight };
    const { media_buy_id, packages } = await ask("create_media_buy", order);
    const [{ package_id }] = packages;
    spent[package_id] = 600;
    const change = (more: object) => ({ ...key(), account, media_buy_id, ...more });
    for (const [more, field] of [
      [{ packages: [{ package_id, budget: 599 }] }, "packages[0].budget"],
      [{ total_budget: { amount: 599, currency: "USD" } }, "total_budget.amount"],
    ] as const) {
      const { code, field: at } = await refused("update_media_buy", change(more));
      assert.equal([code, at], ["BUDGET_EXCEEDED", field]);
    }
    const [{ revision }] = (await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    assert.is(revision, 1, "nothing was written");
    await ask("update_media_buy", change({ packages: [{ package_id, budget: 600 }] }));
    await ask("update_media_buy", change({ packages: [{ package_id, canceled: true }] }));
    await close();
  });

test.run();
