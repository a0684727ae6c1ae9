/** Brands and licences of the reference seller. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { key, type TemplateSeller, templateSeller } from "./template-seller.js";

const test = suite<{ own: TemplateSeller }>("reference seller: brands");
test.before.each(async (context) => {
  context.own = await templateSeller();
});
test.after.each(({ own }) => own.close());

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

test("an identity has the parts asked for, and names what it keeps to itself", async ({ own }) => {
  const { brand_id, colors, tone, available_fields } = await own.ask("get_brand_identity", {
    brand_id: "acme_outdoor",
    fields: ["colors", "voice_synthesis"],
  });
  assert.equal([brand_id, tone, available_fields], ["acme_outdoor", undefined, ["voice_synthesis"]]);
  assert.is(colors.primary, "#1B5E20");
  assert.is((await own.refused("get_brand_identity", { brand_id: "none" })).code, "BRAND_NOT_FOUND");
});

test("rights are found by use and place, and what is left out says why", async ({ own }) => {
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

test("a licence covers its campaign, and can be made longer but not shorter", async ({ own }) => {
  const grant = await own.ask("acquire_rights", request());
  assert.is(grant.rights_status, "acquired");
  assert.is(grant.terms.end_date, day(30));
  const { rights_id } = grant;
  const longer = await own.ask("update_rights", { ...key(), rights_id, end_date: day(60), paused: true });
  assert.equal([longer.terms.end_date, longer.paused], [day(60), true]);
  const shorter = await own.refused("update_rights", { ...key(), rights_id, end_date: day(10) });
  assert.is(shorter.field, "end_date");
  const foreign = await own.refused("update_rights", { ...key(), rights_id, paused: false }, "somebody-else");
  assert.is(foreign.code, "REFERENCE_NOT_FOUND");
});

test("no licence for the past, for other uses, or abroad", async ({ own }) => {
  const past = await own.refused("acquire_rights", request({}, { start_date: day(-30), end_date: day(-1) }));
  assert.is(past.field, "campaign.end_date");
  const today = await own.ask("acquire_rights", request({}, { end_date: day(0) }));
  assert.is(today.rights_status, "acquired");
  const other = await own.ask("acquire_rights", request({}, { uses: ["endorsement"] }));
  assert.is(other.rights_status, "rejected");
  const abroad = await own.ask("acquire_rights", request({}, { countries: ["FR"] }));
  assert.equal([abroad.rights_status, abroad.reason], ["rejected", "Not licensed in FR."]);
  const price = await own.refused("acquire_rights", request({ pricing_option_id: "none" }));
  assert.is(price.field, "pricing_option_id");
});

test("who registered a plan is held to it", async ({ own }) => {
  const plan = (total: number) => ({
    plan_id: "rights",
    brand: { domain: "acmeoutdoor.example" },
    objectives: "Licences",
    budget: { total, currency: "USD", reallocation_unlimited: true },
    flight: { start: "2026-01-01T00:00:00Z", end: "2036-01-01T00:00:00Z" },
  });
  await own.ask("sync_plans", { ...key(), plans: [plan(20)] });
  assert.is((await own.refused("acquire_rights", request())).code, "GOVERNANCE_DENIED");
  assert.is((await own.ask("acquire_rights", request(), "somebody-else")).rights_status, "acquired");
  await own.ask("sync_plans", { ...key(), plans: [plan(50)] });
  assert.is((await own.ask("acquire_rights", request())).rights_status, "acquired");
});

test.run();
