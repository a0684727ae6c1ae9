/** Buys whose audience, event source or creative goes: their buyers read it, as long as it lasts and where it matters. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const agentUrl = "https://seller.example/mcp";
const image = { asset_type: "image", url: "https://cdn.example/a.png", width: 300, height: 250 };

interface Impaired {
  readonly resource_type: string;
  readonly resource_id: string;
  readonly package_ids: readonly string[];
  readonly transition: { readonly to: string };
  readonly reason_code: string;
}

async function bought(version: string, terms: object, before: (ask: Ask) => Promise<unknown>) {
  const areas = ["audiences", "events", "creatives", "catalogs"];
  const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: areas });
  await before(ask);
  const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
  const times = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
  const order = { ...key(), account, brand, ...times, packages: [{ ...line, ...terms }, line] };
  const { media_buy_id, packages } = await ask("create_media_buy", order);
  const impairments = async (): Promise<readonly unknown[]> => {
    const [buy] = (await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] })).media_buys;
    return ((buy.impairments ?? []) as Impaired[]).map((one) => [
      ...[one.resource_type, one.resource_id, one.transition.to, one.reason_code, ...one.package_ids],
    ]);
  };
  const first = packages[0].package_id as string;
  return { ask, close, impairments, first, media_buy_id: media_buy_id as string };
}

type Ask = Awaited<ReturnType<typeof behavingSeller>>["ask"];

const tells = versions.filter((version) => !version.startsWith("3.0"));

for (const version of tells) {
  test(`${version}: a buy is told that its audience is deleted, and that it is there again or named no more`, async () => {
    const sync = (ask: Ask, more: object = {}) =>
      ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "walkers", name: "Walkers", ...more }] });
    const targeting_overlay = { audience_include: ["walkers"] };
    const { ask, impairments, close, first, media_buy_id } = await bought(version, { targeting_overlay }, sync);
    assert.equal(await impairments(), []);
    await sync(ask, { delete: true });
    const gone = ["audience", "walkers", "suspended", "seller_removed", first];
    assert.equal(await impairments(), [gone]);
    await sync(ask);
    assert.equal(await impairments(), []);
    await ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "other" }], delete_missing: true });
    assert.equal(await impairments(), [gone]);
    const packages = [{ package_id: first, targeting_overlay: { audience_include: ["other"] } }];
    await ask("update_media_buy", { ...key(), account, media_buy_id, packages });
    assert.equal(await impairments(), [], "it is not for that audience any more");
    await close();
  });

  test(`${version}: a buy is told that the catalogue it is filled from is deleted, and that it is there again`, async () => {
    const items = [{ item_id: "boot", name: "Boot" }];
    const sync = (ask: Ask, catalog_id: string, more: object = {}) =>
      ask("sync_catalogs", { ...key(), account, catalogs: [{ catalog_id, type: "product", items }], ...more });
    const catalogs = [{ catalog_id: "boots", type: "product" }];
    const { ask, impairments, close, first } = await bought(version, { catalogs }, (all) => sync(all, "boots"));
    await sync(ask, "shoes", { delete_missing: true, dry_run: true });
    assert.equal(await impairments(), []);
    await sync(ask, "shoes", { delete_missing: true });
    assert.equal(await impairments(), [["catalog_item", "boots", "withdrawn", "seller_removed", first]]);
    await sync(ask, "boots");
    assert.equal(await impairments(), []);
    await close();
  });

  test(`${version}: a package is filled from a catalogue that was synced, or that it brings`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["catalogs"] });
    const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
    const order = (catalog: object) => ({
      ...{ ...key(), account, brand, start_time: "asap", end_time: "2099-02-01T00:00:00Z" },
      packages: [{ ...line, catalogs: [{ type: "product", ...catalog }] }],
    });
    const { code, field } = await refused("create_media_buy", order({ catalog_id: "boots" }));
    assert.equal([code, field], ["INVALID_REQUEST", "packages[0].catalogs"]);
    await ask("create_media_buy", order({}));
    await ask("create_media_buy", order({ catalog_id: "boots", items: [{ item_id: "boot", name: "Boot" }] }));
    await close();
  });

  test(`${version}: a buy is told that the source of its goal is gone`, async () => {
    const event_source = { event_source_id: "site", event_types: ["purchase"] };
    const sync = (ask: Ask) => ask("sync_event_sources", { ...key(), account, event_sources: [event_source] });
    const optimization_goals = [
      { kind: "event", event_sources: [{ event_source_id: "site", event_type: "purchase" }], priority: 1 },
    ];
    const { ask, impairments, close, first } = await bought(version, { optimization_goals }, sync);
    const others = [{ ...event_source, event_source_id: "app" }];
    await ask("sync_event_sources", { ...key(), account, event_sources: others, delete_missing: true });
    assert.equal(await impairments(), [["event_source", "site", "insufficient", "source_offline", first]]);
    await sync(ask);
    assert.equal(await impairments(), []);
    await close();
  });

  test(`${version}: a creative that goes holds a package back where it has no other to show`, async () => {
    const upload = (ask: Ask) =>
      ask("sync_creatives", {
        ...{ ...key(), account },
        creatives: ["a", "b"].map((creative_id) => ({
          ...{ creative_id, name: creative_id, format_id: { agent_url: agentUrl, id: "display_300x250_image" } },
          assets: { image_main: image },
        })),
      });
    const creative_assignments = ["a", "b"].map((creative_id) => ({ creative_id }));
    const { ask, impairments, close, first } = await bought(version, { creative_assignments }, upload);
    const force = (creative_id: string, status: string) =>
      ask("comply_test_controller", { scenario: "force_creative_status", params: { creative_id, status } });
    await force("a", "rejected");
    assert.equal(await impairments(), [], "the other one is shown");
    await force("b", "archived");
    assert.equal(await impairments(), [["creative", "b", "suspended", "seller_removed", first]]);
    await close();
  });
}

for (const version of versions)
  test(`${version}: what a buyer says of an audience is kept, and its tags are given back`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["audiences"] });
    const said = { audience_type: "suppression", tags: ["holiday"], name: "Buyers" };
    const sync = (more: object) =>
      ask("sync_audiences", { ...key(), account, audiences: [{ audience_id: "buyers", ...more }] });
    await sync(said);
    const list = async () => (await ask("sync_audiences", { ...key(), account })).audiences[0];
    assert.equal([(await list()).tags, (await list()).name], [["holiday"], "Buyers"]);
    assert.is((await sync({ tags: ["holiday"] })).audiences[0].action, "unchanged");
    assert.is((await sync({ tags: ["spring"] })).audiences[0].action, "updated");
    assert.equal((await list()).tags, ["spring"]);
    const source = { kind: "dataset", vendor: { domain: "data.example" }, locator: "share.t1" };
    if (version === "3.2.4") {
      const { action, errors } = (await sync({ audience_id: "elsewhere", source })).audiences[0];
      assert.equal([action, errors[0].code], ["failed", "UNSUPPORTED_FEATURE"]);
    }
    await close();
  });

test.run();
