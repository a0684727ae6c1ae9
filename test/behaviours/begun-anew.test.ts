/** `reset_state`: a test has the seller begin anew, for its own caller, with nothing left of what was there before. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdServer, BehavingSellerOptions } from "../../runtime/behaviours/index.js";
import { exampleBrands } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, brand, key, type TestSeller, versions, versionsWith } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";
import { notingAdServer } from "./noting-ad-server.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const order = (more: object = {}) => ({
  ...{ ...key(), account, brand, packages: [line] },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  ...more,
});
const elsewhere = { brand: { domain: "elsewhere.example" }, operator: "elsewhere.example" };
const creative = {
  creative_id: "banner",
  name: "Banner",
  assets: { image: { asset_type: "image", url: "https://cdn.example/a.png", width: 300, height: 250 } },
};

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

const command = ({ ask }: TestSeller, scenario: string, params: object, principal?: string) =>
  ask("comply_test_controller", { scenario, account: { ...account, sandbox: true }, params }, principal);

const reset = (seller: TestSeller, principal?: string) => command(seller, "reset_state", {}, principal);

async function ordered(seller: TestSeller, principal?: string): Promise<void> {
  await seller.ask("sync_accounts", { ...key(), accounts: [{ ...elsewhere, billing: "operator" }] }, principal);
  const { media_buy_id } = await seller.ask("create_media_buy", order(), principal);
  assert.type(media_buy_id, "string");
  const creatives = [{ ...creative, format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" } }];
  const { creatives: synced } = await seller.ask("sync_creatives", { ...key(), account, creatives }, principal);
  assert.is(synced[0].action, "created");
  const product = { product_id: "of_the_test", fixture: { name: "Of the test" } };
  assert.ok((await command(seller, "seed_product", product, principal)).success);
}

/** What a caller has, by how many there are of it. */
async function holdings({ ask }: TestSeller, principal?: string): Promise<object> {
  const { media_buys } = await ask("get_media_buys", {}, principal);
  const { creatives } = await ask("list_creatives", {}, principal);
  const { accounts } = await ask("list_accounts", {}, principal);
  const { products } = await ask("get_products", { buying_mode: "wholesale", account }, principal);
  const seeded = products.some((one: { product_id: string }) => one.product_id === "of_the_test");
  return { buys: media_buys.length, creatives: creatives.length, accounts: accounts.length, seeded };
}

const everything = { buys: 1, creatives: 1, accounts: 2, seeded: true };

const open = (version: string, database: string, ports: BehavingSellerOptions["ports"] = {}) =>
  behavingSeller(version, ["sales_non_guaranteed"], { database, ports });

for (const version of versions)
  for (const [engine, database] of Object.entries(databases)) {
    test(`${version} on ${engine}: what a caller has is gone, and the account is there that it is done for; another's stays`, async () => {
      const seller = await open(version, await database());
      for (const run of ["first", "second"]) {
        await ordered(seller, "one");
        if (run === "first") await ordered(seller, "other");
        assert.equal(await holdings(seller, "one"), everything, run);
        assert.ok((await reset(seller, "one")).success);
        assert.equal(await holdings(seller, "one"), { buys: 0, creatives: 0, accounts: 1, seeded: false }, run);
        assert.equal(await holdings(seller, "other"), everything, run);
      }
      await seller.close();
    });

    test(`${version} on ${engine}: a task of an order that waits goes with the order, one that a test ordered makes way`, async () => {
      const approvals = { ask: async () => ({ decision: "wait" as const }) };
      const seller = await open(version, await database(), { approvals });
      const waiting = await seller.ask("create_media_buy", order(), "one");
      const others = await seller.ask("create_media_buy", order(), "other");
      assert.equal([waiting.status, others.status], ["submitted", "submitted"]);
      const params = { arm: "submitted", task_id: "task_of_the_storyboard" };
      assert.ok((await command(seller, "force_create_media_buy_arm", params, "one")).success);
      assert.is((await seller.ask("create_media_buy", order(), "one")).task_id, params.task_id);
      assert.ok((await reset(seller, "one")).success);
      const unfinished = await seller.seller.unfinished();
      assert.equal(
        unfinished.map(({ id }) => id),
        [others.task_id],
      );
      assert.ok((await command(seller, "force_create_media_buy_arm", params, "other")).success);
      await seller.close();
    });
  }

for (const version of versions)
  test(`${version}: an order that goes on at the ad server is canceled there, once the ad server answers`, async () => {
    const { adServer, kinds } = notingAdServer();
    let down = true;
    const cancel: AdServer["cancel"] = async (...told) => {
      if (down) throw new Error("the ad server is down");
      await adServer.cancel(...told);
    };
    const seller = await open(version, await databases.SQLite(), { adServer: { ...adServer, cancel } });
    await seller.ask("create_media_buy", order());
    const { media_buy_id } = await seller.ask("create_media_buy", order());
    down = false;
    await seller.ask("update_media_buy", { ...key(), account, media_buy_id, canceled: true });
    down = true;
    const refused = await reset(seller);
    assert.equal([refused.success, refused.error], [false, "INVALID_STATE"]);
    assert.is((await seller.ask("get_media_buys", {})).media_buys.length, 1, "what is not over there is not lost here");
    down = false;
    assert.ok((await reset(seller)).success);
    assert.equal(kinds, ["book", "book", "cancel", "cancel"]);
    await seller.close();
  });

for (const version of await versionsWith("brand_rights"))
  test(`${version}: days that a caller's licence held are free again, and those of others are not`, async () => {
    const [offering] = await exampleBrands.offerings({ principal: "" });
    const pricing = [{ ...offering!.pricing[0], exclusive: true as const }] as const;
    const brands = { ...exampleBrands, offerings: async () => [{ ...offering!, pricing }] };
    const seller = await behavingSeller(version, ["brand_rights"], { ports: { brands } });
    const acquire = async (principal: string): Promise<string> => {
      const request = {
        ...{ ...key(), rights_id: offering!.rights_id, pricing_option_id: pricing[0].pricing_option_id },
        buyer: { domain: "pinnacle.example" },
        campaign: { description: "Summer", uses: ["ai_generated_image"], start_date: day(0), end_date: day(30) },
        revocation_webhook: { url: "https://pinnacle.example/revoked" },
      };
      const { rights_status, status } = await seller.ask("acquire_rights", request, principal);
      return rights_status ?? status;
    };
    assert.is(await acquire("one"), "acquired");
    assert.is(await acquire("other"), "rejected");
    assert.ok((await reset(seller, "other")).success);
    assert.is(await acquire("other"), "rejected");
    assert.ok((await reset(seller, "one")).success);
    assert.is(await acquire("other"), "acquired");
    await seller.close();
  });

test.run();
