/** Brands, the rights in them, and licences. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behavingSeller, key, type TestSeller, versions } from "./behaving-seller.js";

/** A seller of rights, closed when the test is done. */
const withSeller = (name: string, body: (own: TestSeller, state: string) => Promise<void>): void => {
  for (const version of versions)
    test(`${version}: ${name}`, async () => {
      const own = await behavingSeller(version, ["brand_rights"]);
      try {
        await body(own, version.startsWith("3.0") ? "status" : "rights_status");
      } finally {
        await own.close();
      }
    });
};

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

const request = (more: object = {}, campaign: object = {}) => ({
  ...key(),
  rights_id: "acme_trail_imagery",
  pricing_option_id: "trail_imagery_monthly",
  buyer: { domain: "pinnacle.example" },
  campaign: {
    description: "Summer",
    uses: ["ai_generated_image"],
    start_date: day(-3),
    end_date: day(30),
    ...campaign,
  },
  revocation_webhook: { url: "https://pinnacle.example/revoked" },
  ...more,
});

withSeller("an identity has the parts asked for, and names what it keeps to itself", async (own) => {
  const { brand_id, colors, tone, available_fields } = await own.ask("get_brand_identity", {
    brand_id: "acme_outdoor",
    fields: ["colors", "voice_synthesis"],
  });
  assert.equal([brand_id, tone, available_fields], ["acme_outdoor", undefined, ["voice_synthesis"]]);
  assert.is(colors.primary, "#1B5E20");
  assert.is((await own.refused("get_brand_identity", { brand_id: "none" })).code, "REFERENCE_NOT_FOUND");
});

withSeller("rights are found by use and place, and what is left out says why", async (own) => {
  const wanted = { query: "image generation for advertising", uses: ["ai_generated_image"], include_excluded: true };
  const found = await own.ask("get_rights", { ...wanted, countries: ["DE"] });
  assert.equal(
    found.rights.map(({ rights_id }: { rights_id: string }) => rights_id),
    ["nova_volta_footage"],
  );
  assert.ok(found.excluded.some(({ reason }: { reason: string }) => reason === "Not licensed in DE."));
  const rival = await own.ask("get_rights", { ...wanted, buyer_brand: { domain: "retail-rival.example" } });
  assert.is(rival.rights[0].rights_id, "acme_trail_imagery");
  assert.is(rival.rights.length, 1);
});

withSeller("a licence covers its campaign, and can be made longer but not shorter", async (own, state) => {
  const grant = await own.ask("acquire_rights", request());
  assert.is(grant[state], "acquired");
  assert.is(grant.terms.end_date, day(30));
  const { rights_id } = grant;
  const longer = await own.ask("update_rights", { ...key(), rights_id, end_date: day(60), paused: true });
  assert.equal([longer.terms.end_date, longer.paused], [day(60), true]);
  const shorter = await own.refused("update_rights", { ...key(), rights_id, end_date: day(10) });
  assert.is(shorter.field, "end_date");
  const foreign = await own.refused("update_rights", { ...key(), rights_id, paused: false }, "somebody-else");
  assert.is(foreign.code, "REFERENCE_NOT_FOUND");
});

withSeller("no licence for the past, for other uses, or abroad", async (own, state) => {
  const past = await own.refused("acquire_rights", request({}, { start_date: day(-30), end_date: day(-1) }));
  assert.is(past.field, "campaign.end_date");
  const today = await own.ask("acquire_rights", request({}, { end_date: day(0) }));
  assert.is(today[state], "acquired");
  const other = await own.ask("acquire_rights", request({}, { uses: ["endorsement"] }));
  assert.is(other[state], "rejected");
  const abroad = await own.ask("acquire_rights", request({}, { countries: ["FR"] }));
  assert.equal([abroad[state], abroad.reason], ["rejected", "Not licensed in FR."]);
  const price = await own.refused("acquire_rights", request({ pricing_option_id: "none" }));
  assert.is(price.field, "pricing_option_id");
});

withSeller(
  "an account under governance licenses what its plan allows, and nothing without a word of its agent",
  async (own, state) => {
    const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle.example" };
    const authentication = { schemes: ["Bearer"], credentials: "x".repeat(40) };
    const governance_agents = [{ url: "https://governance.example/mcp", authentication }];
    await own.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
    const acquire = async (more: object = {}, who = "buyer") => {
      const answer = await own.ask("acquire_rights", request({ account, ...more }), who);
      return answer[state];
    };
    assert.is(await acquire(), "rejected");
    assert.is(await acquire({ governance_context: "of-the-agent" }), "acquired");
    assert.is(await acquire({}, "somebody-else"), "acquired");
    const plan = (total: number) => ({
      plan_id: "rights",
      brand: { domain: "acmeoutdoor.example" },
      objectives: "Licences",
      budget: { total, currency: "USD", reallocation_unlimited: true },
      flight: { start: "2026-01-01T00:00:00Z", end: "2036-01-01T00:00:00Z" },
    });
    await own.ask("sync_plans", { ...key(), plans: [plan(20)] });
    assert.is(await acquire({ governance_context: "of-the-agent" }), "rejected");
    await own.ask("sync_plans", { ...key(), plans: [plan(50)] });
    assert.is(await acquire(), "acquired");
  },
);

test.run();
