/** Lists go on while what is on them changes, and a revision says that something did. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
const order = () => ({ ...key(), account, brand, ...until, packages: [line] });
const banner = (creative_id: string) => ({
  creative_id,
  name: creative_id,
  format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } },
});

for (const version of versions) {
  test(`${version}: what ends between two pages takes nothing from the next`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["accounts"] });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await ask("create_media_buy", order())).media_buy_id);
    const first = await ask("get_media_buys", { pagination: { max_results: 1 } });
    assert.is(first.media_buys[0].media_buy_id, ids[0]);
    await ask("update_media_buy", { ...key(), account, media_buy_id: ids[0], canceled: true });
    const rest = await ask("get_media_buys", { pagination: { max_results: 5, cursor: first.pagination.cursor } });
    assert.equal(
      [rest.media_buys.map(({ media_buy_id }: { media_buy_id: string }) => media_buy_id), rest.pagination],
      [ids.slice(1), { has_more: false, total_count: 2 }],
    );
    const names = ["c1", "c2", "c3"];
    await ask("sync_creatives", { ...key(), account, creatives: names.map(banner) });
    const page = await ask("list_creatives", { pagination: { max_results: 1 } });
    const [gone] = page.creatives.map(({ creative_id }: { creative_id: string }) => creative_id);
    const left = names.filter((name) => name !== gone);
    await ask("sync_creatives", { ...key(), account, creatives: left.map(banner), delete_missing: true });
    const others = await ask("list_creatives", { pagination: { max_results: 5, cursor: page.pagination.cursor } });
    assert.equal(
      others.creatives.map(({ creative_id }: { creative_id: string }) => creative_id),
      left,
    );
    assert.equal([others.query_summary.total_matching, others.query_summary.returned], [2, 2]);
    await close();
  });

  test(`${version}: an update or an assignment that says what is so already makes no revision`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const { media_buy_id, packages } = await ask("create_media_buy", order());
    const [{ package_id }] = packages;
    const revision = async (): Promise<number> =>
      (await ask("get_media_buys", { media_buy_ids: [media_buy_id] })).media_buys[0].revision;
    const assign = (more: object = {}) => {
      const assignments = [{ creative_id: "c1", package_id, ...more }];
      return ask("sync_creatives", { ...key(), account, creatives: [banner("c1")], assignments });
    };
    await assign();
    assert.is(await revision(), 2);
    assert.equal((await assign()).creatives[0].assigned_to, [package_id]);
    assert.is(await revision(), 2);
    await assign({ weight: 10 });
    assert.is(await revision(), 3);
    const update = (more: object) => ask("update_media_buy", { ...key(), account, media_buy_id, ...more });
    for (const more of [
      {},
      { paused: false },
      { end_time: until.end_time },
      { packages: [{ package_id, budget: 1_000 }] },
    ])
      assert.is((await update(more)).revision, 3);
    assert.equal(
      [(await update({ paused: true, revision: 3 })).revision, (await update({ paused: true })).revision],
      [4, 4],
    );
    await close();
  });
}

test.run();
