/** Members that no schema of the release speaks of, and that are looked at all the same, may be anything. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

const odd = [null, "", -1, {}, [null]];

for (const version of versions)
  test(`${version}: an odd member is the caller's fault or nobody's, and never the seller's`, async () => {
    const specialisms = ["content_standards", "creative_ad_server"];
    const { ask, seller, close } = await behavingSeller(version, specialisms, { with: ["brands", "accounts"] });
    const told = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle.example", billing: "operator" };
    const claim = { claim_type: "subsidiary", claim: { subsidiary_domain: "leaf.example" } };
    for (const value of odd) {
      const calls: readonly (readonly [tool: string, args: object])[] = [
        ["list_creatives", { account, creative_ids: value }],
        ["list_content_standards", { account: value }],
        ["sync_accounts", { ...key(), accounts: [{ ...told, notification_configs: value }] }],
        ["verify_brand_claim", { ...claim, context: value }],
      ];
      for (const [tool, args] of calls) {
        const identity = { principal: "buyer" };
        const { payload } = await seller.call({ tool, args, transport: "mcp", identity });
        const [error] = (payload.errors ?? []) as { readonly code: string }[];
        const fault = /CONFIGURATION_ERROR|SERVICE_UNAVAILABLE|INVALID_ANSWER/.test(error?.code ?? "");
        assert.not.ok(fault, `${tool} ${JSON.stringify(value)}: ${JSON.stringify(error)}`);
      }
    }
    assert.ok((await ask("list_creatives", { account })).creatives);
    await close();
  });

test.run();
