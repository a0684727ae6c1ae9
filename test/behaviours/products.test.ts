/** AccountsPort, products and formats on every line of releases. Answers are judged by the release's schemas. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

interface FormatName {
  readonly agent_url: string;
  readonly id: string;
}

for (const version of versions) {
  test(`${version}: accounts are opened, listed and governed`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["governance-agents", "products"] });
    const synced = await ask("sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] });
    assert.is(synced.accounts[0].action, "created");
    const { accounts } = await ask("list_accounts", {});
    assert.is(accounts.length, 1);
    assert.is(accounts[0].status, "active");
    const agents = [
      { url: "https://gov.example", authentication: { schemes: ["Bearer"], credentials: "x".repeat(32) } },
    ];
    const governed = await ask("sync_governance", { ...key(), accounts: [{ account, governance_agents: agents }] });
    assert.is(governed.accounts[0].status, "synced");
    await close();
  });

  test(`${version}: products answer a brief, the catalogue and a refinement`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["products"] });
    const answered = await ask("get_products", { buying_mode: "brief", brief: "outdoor video on connected TV", brand });
    assert.is(answered.products[0].product_id, "outdoor_ctv_q2");
    assert.ok(answered.products[0].format_ids.length > 0);
    const all = await ask("get_products", { buying_mode: "wholesale", brand });
    assert.ok(all.products.length >= 5);
    const refine = [{ scope: "product", product_id: "outdoor_ctv_q2", action: "include" }];
    const refined = await ask("get_products", { buying_mode: "refine", refine, brand });
    assert.is(refined.refinement_applied[0].status, "applied");
    const { formats } = await ask("list_creative_formats", {});
    const nameOf = ({ agent_url, id }: FormatName): string => `${agent_url} ${id}`;
    const known = new Set(formats.map(({ format_id }: { format_id: FormatName }) => nameOf(format_id)));
    for (const one of all.products.flatMap(({ format_ids }: never) => format_ids)) {
      assert.ok(known.has(nameOf(one)), nameOf(one));
      assert.is.not(new URL(one.agent_url).hostname, "seller.example", "a name that buyers know");
    }
    await close();
  });

  test(`${version}: what a test's product is sold in is listed, whether or not the test has put it there`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["products"] });
    const spot = { channels: ["linear_tv"], format_ids: [{ id: "broadcast_spot_30s" }] };
    const params = { product_id: "primetime", fixture: spot };
    await ask("comply_test_controller", {
      ...key(),
      account: { ...account, sandbox: true },
      scenario: "seed_product",
      params,
    });
    const { products } = await ask("get_products", { buying_mode: "wholesale", brand });
    const { format_ids } = products.find(({ product_id }: never) => product_id === "primetime");
    const { formats } = await ask("list_creative_formats", { format_ids });
    assert.equal(
      formats.map(({ format_id }: { format_id: FormatName }) => format_id.id),
      ["broadcast_spot_30s"],
    );
    await close();
  });

  test(`${version}: a standard format is found by its name and judged here; one that is not taken, by a person`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["products", "creatives"] });
    const { formats } = await ask("list_creative_formats", {
      format_ids: [{ agent_url: "https://Creative.adcontextprotocol.org/", id: "video_standard_30s" }],
    });
    const [{ format_id }] = formats;
    assert.is(format_id.id, "video_standard_30s");
    const creative = (id: string, of: FormatName, duration_ms: number) => ({
      ...{ creative_id: id, name: id, format_id: of },
      assets: {
        spot: { asset_type: "video", url: "https://cdn.example/a.mp4", width: 1920, height: 1080, duration_ms },
      },
    });
    const creatives = [
      creative("fits", format_id, 30_000),
      creative("other", { agent_url: "https://formats.example", id: "takeover" }, 30_000),
      creative("long", format_id, 31_000),
    ];
    const lenient = { ...key(), account, validation_mode: "lenient" };
    const synced = await ask("sync_creatives", { ...lenient, creatives });
    assert.equal(
      synced.creatives.map(({ action }: { action: string }) => action),
      ["created", "created", "failed"],
    );
    const { creatives: kept } = await ask("list_creatives", {});
    const states = Object.fromEntries(
      kept.map((one: { creative_id: string; status: string }) => [one.creative_id, one.status]),
    );
    assert.equal(states, { fits: "approved", other: "pending_review" });
    await close();
  });
}

test.run();
