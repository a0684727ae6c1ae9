/** What a buyer sets for a whole order reaches whoever runs it; what nobody does is refused. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type AdServer, listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const order = (more: object = {}) => ({
  ...{ ...key(), account, brand, packages: [line] },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z", ...more },
});

if (versions.length > 0)
  test("one cap over all packages is taken where every product takes part in it", async () => {
    const price = { pricing_option_id: "cpm_auction", pricing_model: "cpm", currency: "USD", floor_price: 1 };
    const product = (product_id: string, more: JsonObject = {}): Product => ({
      ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
      ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [price], more },
    });
    const frequency_cap_constraints = { supported_per_units: ["individuals"] };
    const media_buy_support = { frequency_cap: true, frequency_cap_constraints };
    const catalogue = listedCatalogue([product("capped", { media_buy_support }), product("free")]);
    const opened = (more: object) =>
      behavingSeller("3.2.4", ["sales_non_guaranteed"], { ports: { catalogue }, ...more });
    const aggregate_frequency_capping = {
      ...{ supported_control_modes: ["max_impressions"], supported_per_units: ["individuals", "households"] },
      max_impressions_constraints: { minimum: 1, maximum: 100 },
      window_constraints: [{ unit: "days", minimum_interval: 1, maximum_interval: 30 }],
    };
    const capabilities = { media_buy: { aggregate_frequency_capping } };
    const { ask, refused, close } = await opened({ capabilities });
    const silent = await opened({});
    const of = (...ids: readonly string[]) => ids.map((product_id) => ({ ...line, product_id }));
    const cap = (per: string) => ({ max_impressions: 3, per, window: { interval: 1, unit: "days" } });
    const capped = (per: string, ...ids: readonly string[]) => order({ frequency_cap: cap(per), packages: of(...ids) });
    for (const asked of [capped("individuals", "capped", "free"), capped("households", "capped")]) {
      const { code, field } = await refused("create_media_buy", asked);
      assert.equal([code, field], ["UNSUPPORTED_FEATURE", "frequency_cap"]);
    }
    const undeclared = await silent.refused("create_media_buy", capped("individuals", "capped"));
    assert.equal([undeclared.code, undeclared.field], ["UNSUPPORTED_FEATURE", "frequency_cap"]);
    await silent.close();
    const { media_buy_id } = await ask("create_media_buy", capped("individuals", "capped"));
    const added = { ...key(), account, media_buy_id, new_packages: of("free") };
    assert.is((await refused("update_media_buy", added)).field, "frequency_cap");
    await ask("update_media_buy", { ...added, ...key(), frequency_cap: null });
    await close();
  });

for (const version of versions.filter((one) => one >= "3.1"))
  test(`${version}: a package's cap is one that the seller says it keeps`, async () => {
    const frequency_capping = { supported_per_units: ["individuals"], supported_window_units: ["days"] };
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      capabilities: { media_buy: { frequency_capping } },
    });
    const cap = (per: string, unit: string) => ({
      targeting_overlay: { frequency_cap: { max_impressions: 3, per, window: { interval: 1, unit } } },
    });
    const capped = (per: string, unit: string) => order({ packages: [{ ...line, ...cap(per, unit) }] });
    for (const asked of [capped("households", "days"), capped("individuals", "hours")]) {
      const { code, field } = await refused("create_media_buy", asked);
      assert.equal([code, field], ["UNSUPPORTED_FEATURE", "packages[0].targeting_overlay.frequency_cap"]);
    }
    const { media_buy_id, packages } = await ask("create_media_buy", capped("individuals", "days"));
    const [{ package_id }] = packages;
    const change = (more: object) => ({ ...key(), account, media_buy_id, packages: [{ package_id, ...more }] });
    assert.is((await refused("update_media_buy", change(cap("devices", "days")))).code, "UNSUPPORTED_FEATURE");
    await ask("update_media_buy", change({ targeting_overlay: { frequency_cap: { suppress_minutes: 5 } } }));
    await close();
  });

for (const version of versions)
  test(`${version}: an ad server is told of caps of the whole order, and of what changes beside a pause`, async () => {
    const { adServer, told, kinds } = notingAdServer({ dailyCaps: ["media_buy"] });
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { adServer } });
    const { media_buy_id } = await ask("create_media_buy", order({ daily_budget_cap: 100, pacing: "even" }));
    const update = (more: object) => ask("update_media_buy", { ...key(), account, media_buy_id, ...more });
    await update({ paused: true });
    await update({ paused: false, total_budget: { amount: 2_000, currency: "USD" } });
    await update({ paused: true, daily_budget_cap: null });
    assert.equal(
      told.map(({ terms, lines }, at) => [kinds[at], terms, lines[0]!.budget]),
      [
        ["book", { daily_budget_cap: 100, pacing: "even" }, 1_000],
        ["pause", { daily_budget_cap: 100, pacing: "even" }, 1_000],
        ["change", { daily_budget_cap: 100, pacing: "even" }, 2_000],
        ["change", { pacing: "even" }, 2_000],
      ],
    );
    const goal = { kind: "metric", metric: "clicks" };
    const pooled = {
      budget_allocation: { mode: "seller_optimized", optimization_goals: [goal] },
      total_budget: { amount: 1_000, currency: "USD" },
    };
    for (const more of [pooled, { daily_budget_cap: 100, budget_cap_timezone: "Asia/Tokyo" }])
      assert.is((await refused("create_media_buy", order(more))).code, "UNSUPPORTED_FEATURE", JSON.stringify(more));
    await close();
  });

for (const version of versions.filter((one) => one >= "3.2"))
  test(`${version}: a daily cap is taken of what the ad server keeps it of, and declared so`, async () => {
    const caps = (dailyCaps?: AdServer["dailyCaps"]) =>
      behavingSeller(version, ["sales_non_guaranteed"], {
        ports: { adServer: notingAdServer(dailyCaps === undefined ? {} : { dailyCaps }).adServer },
      });
    const whole = () => order({ daily_budget_cap: 100 });
    const parts = () => order({ packages: [{ ...line, daily_budget_cap: 50 }] });
    const none = await caps();
    assert.is((await none.ask("get_adcp_capabilities", {})).media_buy.budget_capping, undefined);
    for (const [asked, at] of [
      [whole(), "daily_budget_cap"],
      [parts(), "packages[0].daily_budget_cap"],
    ] as const) {
      const { code, field } = await none.refused("create_media_buy", asked);
      assert.equal([code, field], ["UNSUPPORTED_FEATURE", at]);
    }
    await none.close();
    const { ask, refused, close } = await caps(["media_buy"]);
    assert.equal((await ask("get_adcp_capabilities", {})).media_buy.budget_capping, {
      ...{ supported_scopes: ["media_buy"], supported_periods: ["day"] },
      ...{ timezone_basis: "fixed", fixed_timezone: "UTC" },
    });
    const { media_buy_id, packages, budget_cap_timezone } = await ask("create_media_buy", whole());
    assert.is(budget_cap_timezone, "UTC");
    const change = { ...key(), account, media_buy_id };
    const capped = { packages: [{ package_id: packages[0].package_id, daily_budget_cap: 20 }] };
    assert.is((await refused("update_media_buy", { ...change, ...capped })).field, "packages[0].daily_budget_cap");
    await close();
  });

for (const version of versions)
  test(`${version}: a control that is taken away is not shown any more, of a package and of the buy`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const { media_buy_id, packages } = await ask("create_media_buy", order({ daily_budget_cap: 100 }));
    const { package_id } = packages[0];
    const update = (more: object) => ask("update_media_buy", { ...key(), account, media_buy_id, ...more });
    await update({ packages: [{ package_id, daily_budget_cap: 50 }] });
    const changed = await update({
      ...{ daily_budget_cap: null, packages: [{ package_id, daily_budget_cap: null }] },
    }).catch((error: Error) => {
      // Releases before 3.2 have no word for taking away.
      assert.match(error.message, "INVALID_REQUEST");
    });
    const [buy] = (await ask("get_media_buys", { media_buy_ids: [media_buy_id] })).media_buys;
    if (changed !== undefined || version >= "3.2") assert.not.ok(JSON.stringify(buy).includes("null"));
    await close();
  });

test.run();
