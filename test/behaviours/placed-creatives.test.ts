/** Creatives that packages name already: what they are sent as is compared with what the packages run. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { catalogue, long, short, tile } from "./shown-creatives.js";

const packageOf = (product_id: string, more: object = {}) => ({
  ...{ product_id, pricing_option_id: "cpm", budget: 1_000, bid_price: 3, ...more },
});
const order = (packages: readonly object[]) => ({
  ...{ ...key(), account, brand, packages },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
});

for (const version of versions) {
  test(`${version}: a creative that packages name is not sent as what their product does not take`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    type Line = { action: string; errors?: { code: string; message: string }[] };
    const sync = async (...creatives: object[]): Promise<Line[]> =>
      (await seller.ask("sync_creatives", { ...key(), account, creatives })).creatives;
    const named = (creative_id: string) => ({ creative_assignments: [{ creative_id }] });
    const { media_buy_id } = await seller.ask("create_media_buy", order([packageOf("spots", named("later"))]));
    const [refused] = await sync({ ...tile, creative_id: "later" });
    assert.is(refused?.action, "failed");
    assert.match(refused?.errors?.[0]?.message ?? "", /product spots takes video, and the creative is display/);
    assert.is((await sync({ ...short, creative_id: "later" }))[0]?.action, "created");
    // Sent again: a spot that became too long is not taken, and the one before stays.
    assert.is((await sync({ ...long, creative_id: "later" }))[0]?.action, "failed");
    assert.is((await sync({ ...short, creative_id: "later", name: "Renamed" }))[0]?.action, "updated");
    // One package brings it, and another of the same order names it.
    const both = [
      packageOf("tiles", { creatives: [{ ...tile, creative_id: "both" }] }),
      packageOf("spots", named("both")),
    ];
    assert.is((await seller.refused("create_media_buy", order(both))).code, "CREATIVE_REJECTED");
    await seller.ask("update_media_buy", { ...key(), account, media_buy_id, canceled: true });
    assert.is((await sync({ ...tile, creative_id: "later" }))[0]?.action, "updated", "what is over holds nothing");
    await seller.close();
  });

  test(`${version}: a creative that changes goes from one package to another with one update, and not where both would have it`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const brings = (creative: object) => ({ creatives: [{ ...creative, creative_id: "moved" }] });
    const bought = [packageOf("spots", brings(short)), packageOf("tiles"), packageOf("tiles")];
    const { media_buy_id, packages } = await seller.ask("create_media_buy", order(bought));
    const [spots, tiles, more] = packages.map(({ package_id }: { package_id: string }) => ({ package_id }));
    const update = (...changes: object[]) => ({ ...key(), account, media_buy_id, packages: changes });
    const left = { ...spots, creative_assignments: [] };
    const taken = { ...tiles, ...brings(tile) };
    assert.is((await seller.refused("update_media_buy", update(taken))).code, "CREATIVE_REJECTED", "both have it");
    const stays = { ...more, creative_assignments: [{ creative_id: "moved" }] };
    await seller.ask("update_media_buy", update(taken, left));
    await seller.ask("update_media_buy", update(stays));
    // Back again, where a second package would keep what it does not take.
    const back = [
      { ...tiles, creative_assignments: [] },
      { ...spots, ...brings(short) },
    ];
    assert.is((await seller.refused("update_media_buy", update(...back))).code, "CREATIVE_REJECTED");
    await seller.ask("update_media_buy", update(...back, { ...more, canceled: true }));
    await seller.close();
  });

  test(`${version}: an order or a change that names a creative nobody has sent is taken, and its answer says so`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const named = (...ids: string[]) => ({ creative_assignments: ids.map((creative_id) => ({ creative_id })) });
    const bought = [packageOf("tiles", { creatives: [tile] }), packageOf("tiles", named("tile", "misspelt"))];
    const { media_buy_id, packages, message } = await seller.ask("create_media_buy", order(bought));
    assert.is(message, "The account's library has no creative misspelt: what names it waits until it is sent.");
    const change = (one: number, ...ids: string[]) => {
      const { package_id } = packages[one];
      return { ...key(), account, media_buy_id, packages: [{ package_id, ...named(...ids) }] };
    };
    assert.is((await seller.ask("update_media_buy", change(0, "tile"))).message, undefined, "not what was changed");
    const lost = Array.from({ length: 12 }, (_, at) => `lost${at}`);
    assert.match((await seller.ask("update_media_buy", change(0, ...lost))).message, /lost9 and 2 more:/);
    assert.is((await seller.ask("update_media_buy", change(1, "tile"))).message, undefined);
    await seller.close();
  });
}

test.run();
