/** Rights to change a buy that were agreed to with it, and what products allow: what is shown is what may be done. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const flight = { start_time: "2026-01-01T00:00:00Z", end_time: "2099-01-01T00:00:00Z" };
const fixed = { pricing_option_id: "fixed", pricing_model: "cpm", currency: "USD", fixed_price: 10 };
const bids = { pricing_option_id: "bids", pricing_model: "cpm", currency: "USD", floor_price: 1 };
const product = (product_id: string, more: JsonObject = {}): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [fixed, bids], more },
});

async function opened(...products: readonly Product[]) {
  const catalogue = listedCatalogue([product("free"), ...products]);
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
  const read = async (id: string) =>
    (await seller.ask("get_media_buys", { account, media_buy_ids: [id] })).media_buys[0];
  const control = async (media_buy_id: string, more: object) => ({
    ...{ ...key(), account, media_buy_id, revision: (await read(media_buy_id)).revision, ...more },
  });
  const error = async (tool: string, args: object): Promise<{ code: string; details: JsonObject }> =>
    (await seller.refused(tool, args)) as never;
  return { ...seller, read, error, control };
}

const self = (term_id: string, action: string, more: object = {}) => ({
  ...{ term_id, action, service_mode: "self_serve", ...more },
});
const usd = (amount: number) => ({ amount, currency: "USD" });

if (there) {
  async function agreed(change_terms: readonly object[]) {
    const seller = await opened();
    const line = { product_id: "free", pricing_option_id: "fixed", budget: 1_000 };
    const purchases = [{ ...line, pricing: fixed, ...flight }];
    const commercial_terms = { brand, purchases, ...flight, total_budget: usd(1_000), change_terms };
    const accepted_proposal = {
      ...{ proposal_id: "agreed", proposal_kind: "new_media_buy", proposal_status: "accepted", name: "agreed" },
      ...{ media_buy_id: "buy", accepted_at: flight.start_time, commercial_terms },
      terms_digest: `sha256:${"A".repeat(43)}`,
    };
    const packages = [{ package_id: "one", ...line, ...flight, creative_assignments: ["shown"] }];
    const creative = { creative_id: "shown", fixture: { status: "approved", format_kind: "image" } };
    await seller.ask("comply_test_controller", { account, scenario: "seed_creative", params: creative });
    const fixture = { account, status: "active", ...flight, packages, accepted_proposal };
    const params = { media_buy_id: "buy", fixture };
    await seller.ask("comply_test_controller", { account, scenario: "seed_media_buy", params });
    return { ...seller, control: (more: object) => seller.control("buy", more) };
  }

  test("a right that was agreed to is shown as long as it may be exercised, and no other", async () => {
    const { ask, error, read, control, close } = await agreed([
      self("may_pause", "pause", { allowed_statuses: ["active"] }),
      self("may_resume", "resume"),
      self("may_decrease", "decrease_budget", { allowed_statuses: ["paused"] }),
      self("may_extend", "extend_flight", { service_mode: "seller_managed", processing_sla: { response_max: "PT1H" } }),
      self("may_cancel", "cancel", { conditions: ["in_good_standing"] }),
      self("may_target", "update_targeting", { service_mode: "seller_managed" }),
    ]);
    const shown = async () =>
      ((await read("buy")).available_actions as JsonObject[]).map((one) => [one.task, one.change_term_id].join(" "));
    const rest = ["refine_proposals may_extend", "refine_proposals may_target"];
    assert.equal(await shown(), ["control_media_buy may_pause", ...rest]);
    assert.equal((await read("buy")).available_actions[1].sla, { response_max: "PT1H" });
    const reasons: readonly (readonly [object, string])[] = [
      [{ total_budget: usd(900) }, "wrong_status"],
      [{ total_budget: usd(1_100) }, "not_supported_on_buy"],
      [{ pacing: "asap" }, "not_supported_on_buy"],
      [{ canceled: true }, "condition_unresolved"],
      [{ packages: [{ package_id: "one", targeting_overlay: { geo_countries: ["US"] } }] }, "mode_mismatch"],
    ];
    for (const [change, reason] of reasons) {
      const { code, details } = await error("control_media_buy", await control(change));
      assert.equal([code, details.reason], ["ACTION_NOT_ALLOWED", reason]);
      assert.equal(details.currently_available_actions, (await read("buy")).available_actions);
    }
    const paused = await ask("control_media_buy", await control({ paused: true }));
    assert.ok(paused.available_actions.some((one: JsonObject) => one.change_term_id === "may_decrease"));
    assert.equal(await shown(), [...["control_media_buy may_resume", "control_media_buy may_decrease", ...rest]]);
    await ask("control_media_buy", await control({ total_budget: usd(900) }));
    await close();
  });

  test("more than a right gives is to be agreed to anew, and what is within it is done", async () => {
    const budget = { kind: "budget", max_delta_percent: 20, max_result_amount: usd(1_300) };
    const { ask, error, read, control, close } = await agreed([
      self("more", "increase_budget", { constraints: budget }),
      self("less", "decrease_budget", { constraints: { kind: "budget", min_result_amount: usd(800) } }),
      self("longer", "extend_flight", { constraints: { kind: "flight", max_change: { interval: 7, unit: "days" } } }),
      self("others", "add_packages", { constraints: { kind: "package_count", max_result_count: 2 } }),
      self("halt", "pause", {
        constraints: { kind: "effective_timing", minimum_notice: { interval: 1, unit: "hours" } },
      }),
    ]);
    const added = { product_id: "free", pricing_option_id: "fixed", budget: 10 };
    const beyond: readonly (readonly [string, object, readonly unknown[]])[] = [
      ["control_media_buy", { total_budget: usd(1_201) }, ["total_budget.amount", "more", "max_delta_percent"]],
      ["control_media_buy", { total_budget: usd(799) }, ["total_budget.amount", "less", "min_result_amount"]],
      [
        "control_media_buy",
        { packages: [{ package_id: "one", budget: 2_000 }] },
        ["packages[0].budget", "more", "max_delta_percent"],
      ],
      ["control_media_buy", { paused: true }, ["paused", "halt", "minimum_notice"]],
      ["update_media_buy", { end_time: "2099-01-09T00:00:00Z" }, ["end_time", "longer", "max_change"]],
      ["update_media_buy", { new_packages: [added, added] }, ["new_packages", "others", "max_result_count"]],
    ];
    for (const [tool, change, wanted] of beyond) {
      const { code, details } = await error(tool, await control(change));
      assert.equal(
        [code, details.envelope_field, details.change_term_id, details.constraint],
        ["REQUOTE_REQUIRED", ...wanted],
      );
    }
    await ask("control_media_buy", await control({ total_budget: usd(1_200) }));
    const { code, details } = await error("control_media_buy", await control({ total_budget: usd(1_400) }));
    assert.equal([code, details.constraint], ["REQUOTE_REQUIRED", "max_result_amount"]);
    await ask("update_media_buy", await control({ end_time: "2099-01-08T00:00:00Z" }));
    assert.is((await read("buy")).total_budget, 1_200);
    await close();
  });

  test("a buy by a published offer shows by their tools the actions that its product allows, and no others", async () => {
    const allowed_actions = ["pause", "increase_budget"].map((action) => ({ action, modes: ["self_serve"] }));
    const { ask, error, read, control, close } = await opened(product("held", { allowed_actions }));
    const { feed_version } = await ask("list_products", {});
    const purchases = [{ product_id: "held", pricing_option_id: "fixed", budget: 1_000 }];
    const dates = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
    const bought = await ask("buy_products", { ...key(), account, feed_version, purchases, ...dates });
    const { media_buy_id } = bought;
    const wanted = ["pause", "increase_budget"];
    for (const { available_actions } of [bought, await read(media_buy_id)]) {
      const shown = available_actions as JsonObject[];
      assert.equal(
        shown.map(({ action }) => action),
        wanted,
      );
      assert.ok(shown.every(({ task }) => task === "control_media_buy"));
    }
    const { code } = await error("control_media_buy", await control(media_buy_id, { pacing: "asap" }));
    assert.is(code, "ACTION_NOT_ALLOWED");
    await close();
  });

  test("of a cap on one package only that is changed which its product says may be changed", async () => {
    const support = (mutable_fields: readonly string[]) => ({
      overlay_support: {
        frequency_cap_support: { mutable_fields, max_impressions_constraints: { allowed_values: [2, 3, 5] } },
      },
    });
    const allowed_actions = [{ action: "update_frequency_caps", modes: ["self_serve"] }];
    const { ask, error, read, control, close } = await opened(
      product("bought_so", support([])),
      product("counted", { ...support(["max_impressions"]), allowed_actions }),
    );
    const cap = (max_impressions: number, days = 1) => ({
      frequency_cap: { max_impressions, per: "individuals", window: { interval: days, unit: "days" } },
    });
    const line = { pricing_option_id: "fixed", budget: 100, targeting_overlay: cap(3) };
    const packages = ["bought_so", "counted"].map((product_id) => ({ product_id, ...line }));
    const dates = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
    const bought = await ask("create_media_buy", { ...key(), account, brand, packages, ...dates });
    const [still, counted] = (bought.packages as { package_id: string }[]).map((one) => one.package_id);
    const update = (package_id: string | undefined, targeting_overlay: object) =>
      control(bought.media_buy_id, { packages: [{ package_id, targeting_overlay }] });
    const { available_actions } = await read(bought.media_buy_id);
    const shown = (available_actions as JsonObject[]).find(({ action }) => action === "update_frequency_caps");
    assert.equal(shown?.applicable_package_ids, [counted]);
    for (const [id, overlay, wanted] of [
      [still, cap(2), "ACTION_NOT_ALLOWED"],
      [counted, cap(2, 7), "ACTION_NOT_ALLOWED"],
      [counted, cap(4), "UNSUPPORTED_FEATURE"],
    ] as const)
      assert.is((await error("control_media_buy", await update(id, overlay))).code, wanted, JSON.stringify(overlay));
    await ask("control_media_buy", await update(counted, cap(2)));
    const caps = ((await read(bought.media_buy_id)).packages as JsonObject[]).map(
      (one) => (one.targeting_overlay as ReturnType<typeof cap>).frequency_cap.max_impressions,
    );
    assert.equal(caps, [3, 2]);
    await close();
  });

  test("a package is not capped by what the seller does not count, and a product that leaves it open has the seller's units", async () => {
    const overlay_support = { frequency_cap_support: { mutable_fields: ["max_impressions"] } };
    const catalogue = listedCatalogue([product("free"), product("left_open", { overlay_support })]);
    const frequency_capping = { supported_per_units: ["individuals"], supported_window_units: ["campaign", "days"] };
    const capabilities = { media_buy: { frequency_capping } };
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      ...{ ports: { catalogue }, capabilities },
    });
    const dates = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
    const order = (product_id: string, per: string, unit: string) => {
      const frequency_cap = { max_impressions: 3, per, window: { interval: 1, unit } };
      const line = { product_id, pricing_option_id: "fixed", budget: 100, targeting_overlay: { frequency_cap } };
      return { ...key(), account, brand, packages: [line], ...dates };
    };
    for (const id of ["free", "left_open"]) {
      for (const [per, unit] of [
        ["households", "days"],
        ["individuals", "hours"],
      ] as const) {
        const { code, field } = await refused("create_media_buy", order(id, per, unit));
        assert.equal([code, field], ["UNSUPPORTED_FEATURE", "packages[0].targeting_overlay.frequency_cap"]);
      }
      await ask("create_media_buy", order(id, "individuals", "campaign"));
    }
    const found = async (supported_window_units: readonly string[]) => {
      const frequency_cap_support = { mutable_fields: ["max_impressions"], supported_window_units };
      const criteria = { required_overlay_support: { frequency_cap_support } };
      return ((await ask("list_products", { criteria })).products as JsonObject[]).map((one) => one.product_id);
    };
    assert.equal([await found(["campaign"]), await found(["hours"])], [["left_open"], []]);
    await close();
  });
}

test.run();
