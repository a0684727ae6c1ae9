/** What a seller must not get wrong, each by itself. Answers are judged by the release's schemas. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Product } from "../../runtime/behaviours/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const order = (over: object = {}) => ({ ...key(), account, brand, ...flight, packages: [line], ...over });
const controlled = { account: { ...account, sandbox: true } };
const wholesale = { buying_mode: "wholesale", brand };

const priced = (price: number): Product => ({
  product_id: "one",
  name: "One",
  description: "Sold at a price that changes.",
  delivery_type: "non_guaranteed",
  channels: ["display"],
  formats: ["display_300x250_image"],
  pricing_options: [
    { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: price, min_spend_per_package: 100 },
  ],
});

for (const version of versions) {
  test(`${version}: changing a price in the catalogue changes what is sold`, async () => {
    let price = 6;
    const catalogue = { products: async () => [priced(price)] };
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const shown = async (): Promise<number> => {
      const { products } = await ask("get_products", wholesale);
      return products[0].pricing_options[0].fixed_price;
    };
    assert.is(await shown(), 6);
    price = 66;
    assert.is(await shown(), 66);
    const [{ package_id }] = (
      await ask(
        "create_media_buy",
        order({ packages: [{ ...line, product_id: "one", pricing_option_id: "cpm", bid_price: undefined }] }),
      )
    ).packages;
    assert.ok(package_id);
    await close();
  });

  test(`${version}: a seeded format stands beside the others, for who put it there`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"]);
    const listed = async (who?: string): Promise<string[]> => {
      const { formats } = await ask("list_creative_formats", {}, who);
      return formats.map(({ format_id }: { format_id: { id: string } }) => format_id.id);
    };
    const before = await listed();
    const params = { format_id: "seeded_takeover", fixture: { name: "Takeover" } };
    await ask("comply_test_controller", { scenario: "seed_creative_format", params, ...controlled });
    assert.equal([...(await listed())].sort(), [...before, "seeded_takeover"].sort());
    assert.equal(await listed("another"), before);
    await close();
  });

  test(`${version}: an account that nobody knows breaks no list`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"]);
    await ask("create_media_buy", order({ account: { account_id: "acct_x" } })).catch((error: Error) => {
      // Refused, or taken for a sandbox: either way the lists go on.
      assert.not.match(error.message, "INVALID_ANSWER");
    });
    const { accounts } = await ask("list_accounts", {});
    assert.ok(Array.isArray(accounts));
    await ask("get_media_buys", {});
    await ask("sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] });
    assert.ok((await ask("list_accounts", {})).accounts.length >= 1);
    await close();
  });

  test(`${version}: money that a number does not hold to the cent is refused, and sums stay exact`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    for (const budget of [1e308, Number.MAX_SAFE_INTEGER]) {
      const { code, field } = await refused("create_media_buy", order({ packages: [{ ...line, budget }] }));
      assert.equal([code, field], ["INVALID_REQUEST", "packages[0].budget"]);
    }
    const made = await ask("create_media_buy", order());
    const most = 80_000_000_000_000;
    const both = [most, most].map((budget) => ({ ...line, budget }));
    const { code } = await refused("create_media_buy", order({ packages: both }));
    assert.is(code, "INVALID_REQUEST", "each is held exactly, and their sum is not");
    const [{ package_id }] = made.packages;
    const change = { packages: [{ package_id, budget: most }], new_packages: [{ ...line, budget: most }] };
    const raised = await refused("update_media_buy", { ...key(), account, media_buy_id: made.media_buy_id, ...change });
    assert.is(raised.code, "INVALID_REQUEST");
    const cents = [100.1, 100.2, 100.3].map((budget) => ({ ...line, budget }));
    const { media_buy_id: id } = await ask("create_media_buy", order({ packages: cents }));
    const { media_buys: buys } = await ask("get_media_buys", { account, media_buy_ids: [id] });
    assert.is(buys[0].total_budget, 300.6);
    await close();
  });

  test(`${version}: a fault of ours is never told as one that passes`, async () => {
    const broken = {
      products: async () => {
        throw new TypeError("x is not a function");
      },
    };
    const { refused, close } = await behavingSeller(version, ["sales_guaranteed"], { ports: { catalogue: broken } });
    const told = (await refused("get_products", wholesale)) as unknown as { recovery?: string; code: string };
    assert.is.not(told.recovery, "transient", JSON.stringify(told));
    await close();
  });
}

const version = versions.at(-1);
if (version !== undefined) {
  const server = await sharedPostgres();
  test.after(() => server.stop());
  test("of the first orders of new accounts, fifteen at four callers each, none is told CONFLICT", async () => {
    const database = await server.database();
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      database,
      // A busy machine keeps a repetition waiting.
      limits: { calls: false, inFlightWaitMs: 60_000 },
    });
    const orders = Array.from({ length: 15 }, () => order({ account: { ...account, operator: "new.example" } }));
    const booked = await Promise.all(
      orders.map(async (one) => {
        const answers = await Promise.all([1, 2, 3, 4].map(() => ask("create_media_buy", one)));
        return new Set(answers.map(({ media_buy_id }) => media_buy_id));
      }),
    );
    for (const ids of booked) assert.is(ids.size, 1, "a repetition is the same order");
    assert.is(new Set(booked.flatMap((ids) => [...ids])).size, 15);
    await close();
  });
}

test.run();
