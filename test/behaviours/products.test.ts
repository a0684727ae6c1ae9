/** AccountsPort, products and formats on every line of releases. Answers are judged by the release's schemas. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

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
    const known = new Set(formats.map(({ format_id }: { format_id: { id: string } }) => format_id.id));
    for (const { id } of all.products.flatMap(({ format_ids }: never) => format_ids)) assert.ok(known.has(id), id);
    await close();
  });
}

test.run();
