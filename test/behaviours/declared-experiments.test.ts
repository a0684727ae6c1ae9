/** A seller lists each experimental surface that it serves: what is not listed it is taken not to have. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behavingSeller, publishedRelease, versions } from "./behaving-seller.js";

const surfaces = [
  { specialism: "governance_spend_authority", feature: "governance.campaign" },
  { specialism: "sponsored_intelligence", feature: "sponsored_intelligence.core" },
] as const;

for (const version of versions)
  test(`${version}: an agent lists the experimental surface that it serves, and none that it does not`, async () => {
    const { specialisms } = await publishedRelease(version);
    for (const { specialism, feature } of surfaces) {
      const id = Object.keys(specialisms).find((one) => one.replaceAll("-", "_") === specialism);
      if (id === undefined) continue;
      const { ask, close } = await behavingSeller(version, [id]);
      const { experimental_features: listed } = await ask("get_adcp_capabilities", {});
      const known = surfaces.map((one) => one.feature).filter((one) => listed.includes(one));
      assert.equal(known, [feature]);
      await close();
    }
  });

for (const version of versions.includes("3.2.4") ? ["3.2.4"] : [])
  test(`${version}: what an application tries out stands beside what the library serves`, async () => {
    const capabilities = { experimental_features: ["media_buy.audience_activation"] };
    const more = { with: ["account-changes"], capabilities };
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], more);
    const { account, experimental_features: listed } = await ask("get_adcp_capabilities", {});
    assert.ok(account.change_feed.supported);
    for (const one of ["account.change_feed", "media_buy.audience_activation", "media_buy.product_identity"])
      assert.ok(listed.includes(one), one);
    await close();
  });

test.run();
