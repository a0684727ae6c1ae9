/** Packages run when they were bought for, and change only as their products allow it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Catalogue, listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const price = { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 10 };
const product = (product_id: string, more: JsonObject = {}): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [price], more },
});
const allows = (...actions: readonly string[]) => ({
  allowed_actions: actions.map((action) => ({ action, modes: ["self_serve"] })),
});
const catalogue = listedCatalogue([
  ...[product("one"), product("two")],
  ...[product("held", allows("pause")), product("coarse", allows("update_budget", "update_dates", "update_packages"))],
]);
const day = (date: string): string => `2099-${date}T00:00:00Z`;
const line = (product_id: string, more: object = {}) => ({
  ...{ product_id, pricing_option_id: "cpm", budget: 1_000, ...more },
});
const order = (...packages: readonly object[]) => ({
  ...{ ...key(), account, brand, packages, start_time: day("01-01"), end_time: day("02-01") },
});

for (const version of versions) {
  const seller = async () => {
    const opened = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const ends = async (media_buy_id: string) => {
      const [buy] = (await opened.ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
      return [buy.end_time, ...buy.packages.map((one: { end_time: string }) => one.end_time)];
    };
    return { ...opened, ends };
  };

  test(`${version}: a package that would run when its media buy does not is refused`, async () => {
    const { ask, refused, close } = await seller();
    for (const [name, value] of [
      ["start_time", "2098-12-31T00:00:00Z"],
      ["end_time", day("02-02")],
    ] as const) {
      const { code, field } = await refused("create_media_buy", order(line("one"), line("two", { [name]: value })));
      assert.equal([code, field], ["INVALID_REQUEST", `packages[1].${name}`]);
    }
    const { media_buy_id } = await ask("create_media_buy", order(line("one")));
    const added = { ...key(), account, media_buy_id, new_packages: [line("two", { end_time: day("03-01") })] };
    assert.is((await refused("update_media_buy", added)).field, "new_packages[0].end_time");
    await ask("update_media_buy", { ...added, ...key(), end_time: day("03-01") });
    await close();
  });

  test(`${version}: a moment that no clock here reaches ends no order, which would never end by it`, async () => {
    const { ask, refused, close } = await seller();
    // With a blank for the T it would be read as of 2049.
    const ancient = { ...order(line("one")), start_time: "asap", end_time: "0049-01-20 00:00:00Z" };
    assert.is((await refused("create_media_buy", ancient)).field, "end_time");
    const { media_buy_id, packages } = await ask("create_media_buy", order(line("one")));
    for (const end_time of ["2099-12-31T23:59:60Z", "2099-01-20T00:00:00+01"]) {
      const { code, field } = await refused("create_media_buy", { ...order(line("one")), end_time });
      assert.equal([code, field], ["INVALID_REQUEST", "end_time"]);
      const inside = await refused("create_media_buy", order(line("one", { end_time })));
      assert.equal([inside.code, inside.field], ["INVALID_REQUEST", "packages[0].end_time"]);
      const { package_id } = packages[0];
      const change = { ...key(), account, media_buy_id, packages: [{ package_id, end_time }] };
      assert.is((await refused("update_media_buy", change)).field, "packages[0].end_time");
      // What is the buyer's own is kept as it was written.
      await ask("create_media_buy", {
        ...order(line("one", { context: { at: end_time } })),
        context: { at: end_time },
      });
    }
    await close();
  });

  test(`${version}: a package of a product that is sold no more is paused, shortened and canceled all the same`, async () => {
    let sold = ["one", "two"];
    const ports = {
      catalogue: { products: async () => sold.map((id) => product(id)) },
    };
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports });
    const { media_buy_id, packages } = await ask("create_media_buy", order(line("one"), line("two")));
    const [{ package_id }] = packages;
    sold = ["two"];
    const change = (more: object) => ({ ...key(), account, media_buy_id, packages: [{ package_id, ...more }] });
    for (const more of [{ paused: true }, { paused: false }, { end_time: day("01-15") }])
      await ask("update_media_buy", change(more));
    assert.is((await refused("update_media_buy", change({ budget: 5_000 }))).code, "PRODUCT_NOT_FOUND");
    await ask("update_media_buy", change({ canceled: true }));
    await close();
  });

  test(`${version}: days and money that are added are asked for as those of a new order are`, async () => {
    const asked: unknown[] = [];
    const unavailable: Catalogue["unavailable"] = async ({ product: { product_id }, start, end, budget }) => {
      asked.push([product_id, start.slice(5, 10), end.slice(5, 10), budget]);
      return end > day("03-01") || budget > 5_000 ? "sold out" : undefined;
    };
    const ports = { catalogue: { ...catalogue, unavailable } };
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports });
    const { media_buy_id, packages } = await ask("create_media_buy", order(line("one"), line("two")));
    const [{ package_id }] = packages;
    asked.length = 0;
    const update = (more: object) => ({ ...key(), account, media_buy_id, ...more });
    const change = (more: object) => update({ packages: [{ package_id, ...more }] });
    for (const more of [{ paused: true }, { budget: 900 }, { end_time: day("01-15") }])
      await ask("update_media_buy", change(more));
    assert.equal(asked, [], "what gets less was there before");
    await ask("update_media_buy", change({ budget: 1_500 }));
    await ask("update_media_buy", change({ end_time: day("01-31") }));
    assert.equal(asked, [
      ["one", "01-01", "01-15", 600],
      ["one", "01-15", "01-31", 1_500],
    ]);
    for (const [more, field] of [
      [change({ budget: 9_000 }), "packages[0].budget"],
      [update({ end_time: day("03-02") }), "end_time"],
      [update({ total_budget: { amount: 50_000, currency: "USD" } }), "total_budget"],
    ] as const) {
      const fault = await refused("update_media_buy", more);
      assert.equal([fault.code, fault.field], ["PRODUCT_UNAVAILABLE", field]);
    }
    await close();
  });

  test(`${version}: dates of a package's own stay where those of its media buy move, and lie within them`, async () => {
    const { ask, ends, close } = await seller();
    const booked = await ask("create_media_buy", order(line("one", { end_time: day("01-10") }), line("two")));
    const { media_buy_id, packages } = booked;
    const update = (more: object) => ask("update_media_buy", { ...key(), account, media_buy_id, ...more });
    await update({ end_time: day("03-01") });
    assert.equal(await ends(media_buy_id), [day("03-01"), day("01-10"), day("03-01")]);
    await update({ end_time: day("01-05") });
    assert.equal(await ends(media_buy_id), [day("01-05"), day("01-05"), day("01-05")]);
    await update({ packages: [{ package_id: packages[1].package_id, canceled: true }], end_time: day("01-08") });
    assert.equal((await ends(media_buy_id)).slice(0, 2), [day("01-08"), day("01-08")]);
    await close();
  });

  if (version >= "3.1")
    test(`${version}: what a product does not allow is refused by whichever field it is asked, and a coarse word allows it`, async () => {
      const { ask, refused, close } = await seller();
      const booked = async (id: string) => {
        const { media_buy_id, packages } = await ask("create_media_buy", order(line(id)));
        const { package_id } = packages[0];
        return [
          { total_budget: { amount: 9_000, currency: "USD" } },
          { start_time: day("01-02") },
          { packages: [{ package_id, end_time: day("01-20") }] },
          { packages: [{ package_id, keyword_targets_add: [{ keyword: "boot", match_type: "broad" }] }] },
          { packages: [{ package_id, budget: 500 }] },
          { packages: [{ package_id, canceled: true }] },
        ].map((change) => ({ ...key(), account, media_buy_id, ...change }));
      };
      for (const change of await booked("held"))
        assert.is((await refused("update_media_buy", change)).code, "ACTION_NOT_ALLOWED", JSON.stringify(change));
      for (const change of await booked("coarse")) await ask("update_media_buy", change);
      await close();
    });
}

const shownTo = (packages: readonly { readonly package_id: string }[]) => packages.map(({ package_id }) => package_id);

for (const version of versions.filter((one) => one >= "3.1"))
  test(`${version}: what one product allows is no leave for packages of another that does not`, async () => {
    const bound = listedCatalogue([
      product("grows", allows("increase_budget", "pause", "cancel")),
      product("fixed", allows("pause")),
      product("silent"),
    ]);
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      ports: { catalogue: bound },
    });
    const { media_buy_id, packages, available_actions } = await ask(
      "create_media_buy",
      order(line("grows"), line("fixed"), line("silent")),
    );
    const [grows, fixed, silent] = shownTo(packages);
    const actions = new Map<string, JsonObject>(available_actions.map((one: JsonObject) => [one.action, one]));
    assert.is(actions.size, available_actions.length, "an action stands there once");
    assert.ok(actions.has("pause"));
    assert.not.ok(actions.has("cancel"), "one of the packages cannot be canceled");
    const ids = actions.get("increase_budget")!.applicable_package_ids;
    if (version >= "3.2.4") assert.equal(ids, [grows, silent]);
    const update = { ...key(), account, media_buy_id };
    const change = (package_id: string | undefined, more: object) => ({
      ...{ ...update, ...key(), packages: [{ package_id, ...more }] },
    });
    assert.is((await refused("update_media_buy", change(fixed, { budget: 1_500 }))).code, "ACTION_NOT_ALLOWED");
    assert.is((await refused("update_media_buy", change(grows, { canceled: true }))).code, "ACTION_NOT_ALLOWED");
    assert.is((await refused("update_media_buy", { ...update, canceled: true })).code, "ACTION_NOT_ALLOWED");
    const sum = { total_budget: { amount: 6_000, currency: "USD" } };
    assert.is((await refused("update_media_buy", { ...update, ...sum })).code, "ACTION_NOT_ALLOWED");
    await ask("update_media_buy", change(grows, { budget: 1_500 }));
    await ask("update_media_buy", change(silent, { budget: 1_500 }));
    await ask("update_media_buy", change(silent, { canceled: true }));
    await ask("update_media_buy", { ...update, ...key(), paused: true });
    await close();
  });

test.run();
