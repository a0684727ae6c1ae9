/** Money in currencies of three decimals, of two and of none: orders, what they delivered, and what that comes to. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product, type Proposal } from "../../runtime/behaviours/index.js";
import { divided } from "../../runtime/behaviours/products/draft.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

// biome-ignore lint/suspicious/noExplicitAny: an answer of whatever release
type Shown = any;

const flight = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };

/** A seller of one product in a currency, and an order of some budgets. */
async function market(version: string, currency: string, budgets: readonly number[]) {
  const price = { pricing_option_id: "cpm", pricing_model: "cpm", currency, fixed_price: 5 };
  const product: Product = {
    ...{ product_id: "screens", name: "Screens", description: "Screens.", delivery_type: "guaranteed" },
    ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [price] },
  };
  const plan = (proposal_id: string, of: readonly (readonly [string, number])[]): Proposal => ({
    ...{ proposal_id, name: proposal_id, description: "In parts.", proposal_status: "committed" },
    allocations: of.map(([product_id, allocation_percentage]) => ({
      product_id,
      pricing_option_id: "cpm",
      allocation_percentage,
    })),
  });
  const screens = (...parts: readonly number[]) => parts.map((part) => ["screens", part] as const);
  const plans = [
    plan("parts", screens(50, 25, 25)),
    plan("halves", screens(50, 50)),
    plan("unshared", screens(0, 0)),
    plan("thirds", screens(33.34, 33.33, 33.33)),
    plan("others", [["film", 40] as const, ...screens(20, 20, 20)]),
  ];
  const figures: Record<string, object> = {};
  const ports = {
    catalogue: listedCatalogue([product, { ...product, product_id: "film", channels: ["ctv"] }], plans),
    adServer: { ...notingAdServer().adServer, delivery: async () => figures },
  };
  const seller = await behavingSeller(version, ["sales_guaranteed", "sales_proposal_mode"], {
    ...{ with: ["financials", "delivery"], ports },
  } as never);
  const packages = budgets.map((budget) => ({ product_id: "screens", pricing_option_id: "cpm", budget }));
  const amount = (sum: number) => ({ total_budget: { amount: sum, currency } });
  const order = (more: object) => ({ ...key(), account, brand, ...flight, ...more });
  const bought = (more: object = {}): Promise<Shown> => seller.ask("create_media_buy", order({ packages, ...more }));
  const delivered = async ({ media_buy_id }: Shown): Promise<Shown> =>
    (await seller.ask("get_media_buy_delivery", { media_buy_ids: [media_buy_id] })).media_buy_deliveries[0];
  const spends = (lines: readonly Shown[], all: readonly number[]): void =>
    lines.forEach(({ package_id }, at) => {
      figures[package_id] = { impressions: 1, clicks: 0, conversions: 0, spend: all[at] };
    });
  return { ...seller, order, bought, delivered, spends, amount };
}

for (const version of versions) {
  test(`${version}: an order in dinars comes to its packages, to the thousandth`, async () => {
    const { ask, refused, bought, order, amount, close } = await market(version, "KWD", [10.003, 5.002]);
    const { media_buy_id } = await bought(amount(15.005));
    const [shown] = (await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    assert.is(shown.total_budget, 15.005);
    const packages = [{ product_id: "screens", pricing_option_id: "cpm", budget: 10.003 }];
    assert.match(
      (await refused("create_media_buy", order({ packages, ...amount(10.004) }))).field ?? "",
      "total_budget",
    );
    const parts = await ask("create_media_buy", order({ proposal_id: "parts", ...amount(10.001) }));
    assert.equal(
      parts.packages.map(({ budget }: Shown) => budget),
      [5.001, 2.5, 2.5],
    );
    await close();
  });

  test(`${version}: a plan's shares are even to the coin, and nothing goes to who has no share`, async () => {
    const { ask, order, amount, close } = await market(version, "USD", [1]);
    const budgets = async (proposal_id: string, sum: number): Promise<number[]> =>
      (await ask("create_media_buy", order({ proposal_id, ...amount(sum) }))).packages.map(
        ({ budget }: Shown) => budget,
      );
    assert.equal(await budgets("halves", 8.2), [4.1, 4.1]);
    assert.equal(await budgets("thirds", 100), [33.34, 33.33, 33.33]);
    assert.equal(divided({ amount: 100, currency: "USD" }, [0, 1, 2]), [0, 33.34, 66.66]);
    assert.equal(await budgets("unshared", 100.01), [50.01, 50], "no share is no sum that is none");
    const refine = [{ scope: "proposal", proposal_id: "others", action: "include", ask: "shift 50% to ctv" }];
    const { proposals } = await ask("get_products", { buying_mode: "refine", refine, brand });
    const moved = proposals.find((one: Shown) => one.proposal_id === "others");
    const percentages = moved.allocations.map((one: Shown) => one.allocation_percentage);
    assert.equal(percentages, [50, 16.68, 16.66, 16.66], "they come to a hundred");
    await close();
  });

  test(`${version}: of a sum that no proposal can be bought with it is said what is wrong with the sum, not with its shares`, async () => {
    const { ask, refused, order, amount, close } = await market(version, "JPY", [1_000]);
    const bought = (sum: object) => order({ proposal_id: "parts", ...sum });
    const dollars = { total_budget: { amount: 100.01, currency: "USD" } };
    for (const [sum, field, said] of [
      [amount(1_000.5), "total_budget.amount", /^1000\.5 JPY/],
      [dollars, "total_budget.currency", /JPY/],
    ] as const) {
      const { field: told, message } = await refused("create_media_buy", bought(sum));
      assert.is(told, field);
      assert.match(message, said);
    }
    const { packages } = await ask("create_media_buy", bought(amount(1_001)));
    assert.equal(
      packages.map(({ budget }: Shown) => budget),
      [501, 250, 250],
    );
    await close();
  });

  test(`${version}: packages that cost less than a coin come to coins together, as they were told`, async () => {
    for (const [currency, told, whole] of [
      ["KWD", [1.234, 0.004], 1.238],
      ["USD", [0.004, 0.004, 0.004], 0.012],
      ["USD", [0.1, 0.2], 0.3],
      ["JPY", [331, 330], 661],
    ] as const) {
      const { ask, bought, delivered, spends, close } = await market(
        version,
        currency,
        told.map(() => 1_000),
      );
      const buy = await bought();
      spends(buy.packages, told);
      const { totals, by_package } = await delivered(buy);
      assert.equal([totals.spend, by_package.map(({ spend }: Shown) => spend)], [whole, told], currency);
      const period = { start: "2026-01-01", end: "2099-01-01" };
      assert.is((await ask("get_account_financials", { account, period })).spend.total_spend, whole, currency);
      await close();
    }
  });

  test(`${version}: what a test says was spent is shared in coins of the order's currency`, async () => {
    for (const [currency, amount, parts] of [
      ["JPY", 100, [33, 34, 33]],
      ["KWD", 1, [0.333, 0.334, 0.333]],
      ["USD", 1, [0.33, 0.34, 0.33]],
    ] as const) {
      const { ask, bought, delivered, close } = await market(version, currency, [1_000, 1_000, 1_000]);
      const buy = await bought();
      const params = { media_buy_id: buy.media_buy_id, reported_spend: { amount, currency } };
      await ask("comply_test_controller", { scenario: "simulate_delivery", params });
      const { totals, by_package } = await delivered(buy);
      assert.equal([totals.spend, by_package.map(({ spend }: Shown) => spend)], [amount, parts], currency);
      await close();
    }
  });
}

test.run();
