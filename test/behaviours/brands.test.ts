/** What brands look like, and licences of theirs from the first question to the last day. */
import { createHash, verify } from "node:crypto";
import canonicalize from "canonicalize";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type BrandsPort, exampleBrands } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, key, publishedRelease, type TestSeller, versions } from "./behaving-seller.js";

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

const sellerOf = (version: string, brands: Partial<BrandsPort> = {}): Promise<TestSeller> =>
  behavingSeller(version, ["brand_rights"], { ports: { brands: { ...exampleBrands, ...brands } } });

/** The state of the answer's rights: 3.0 has it where later releases have the task's. */
const stateOf = ({ rights_status, status }: { rights_status?: string; status: string }): string =>
  rights_status ?? status;

for (const version of versions) {
  test(`${version}: an identity has the parts asked for, and names what it keeps to itself`, async () => {
    const own = await sellerOf(version);
    const asked = { brand_id: "acme_outdoor", fields: ["colors", "voice_synthesis"] };
    const { brand_id, colors, tone, available_fields } = await own.ask("get_brand_identity", asked);
    assert.equal([brand_id, tone, available_fields], ["acme_outdoor", undefined, ["voice_synthesis"]]);
    assert.is(colors.primary, "#1B5E20");
    assert.is((await own.refused("get_brand_identity", { brand_id: "none" })).code, "REFERENCE_NOT_FOUND");
    await own.close();
  });

  test(`${version}: rights are found by use and place, and what is left out says why`, async () => {
    const own = await sellerOf(version);
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
    await own.close();
  });

  test(`${version}: a licence covers its campaign, and can be made longer but not shorter`, async () => {
    const own = await sellerOf(version);
    const order = request();
    const grant = await own.ask("acquire_rights", order);
    assert.equal([stateOf(grant), grant.terms.end_date], ["acquired", day(30)]);
    const { rights_id } = grant;
    assert.is((await own.ask("acquire_rights", order)).rights_id, rights_id);
    const longer = await own.ask("update_rights", { ...key(), rights_id, end_date: day(60), paused: true });
    assert.equal([longer.terms.end_date, longer.paused], [day(60), true]);
    assert.equal(longer.generation_credentials, []);
    const shorter = await own.refused("update_rights", { ...key(), rights_id, end_date: day(10) });
    assert.is(shorter.field, "end_date");
    const foreign = await own.refused("update_rights", { ...key(), rights_id, paused: false }, "somebody-else");
    assert.is(foreign.code, "REFERENCE_NOT_FOUND");
    await own.close();
  });

  test(`${version}: nobody gets a licence for the past, for other uses, or abroad`, async () => {
    const own = await sellerOf(version);
    const past = await own.refused("acquire_rights", request({}, { start_date: day(-30), end_date: day(-1) }));
    assert.is(past.field, "campaign.end_date");
    assert.is(stateOf(await own.ask("acquire_rights", request({}, { end_date: day(0) }))), "acquired");
    assert.is(stateOf(await own.ask("acquire_rights", request({}, { uses: ["endorsement"] }))), "rejected");
    const abroad = await own.ask("acquire_rights", request({}, { countries: ["FR"] }));
    assert.equal([stateOf(abroad), abroad.reason], ["rejected", "Not licensed in FR."]);
    const price = await own.refused("acquire_rights", request({ pricing_option_id: "none" }));
    assert.is(price.field, "pricing_option_id");
    await own.close();
  });

  test(`${version}: of buyers at once, one gets what only one may have`, async () => {
    const [offering] = await exampleBrands.offerings({ principal: "" });
    const pricing = [{ ...offering!.pricing[0], exclusive: true as const }] as const;
    const own = await sellerOf(version, { offerings: async () => [{ ...offering!, pricing }] });
    const buyers = ["a", "b", "c", "d"];
    const states = await Promise.all(
      buyers.map(async (one) => stateOf(await own.ask("acquire_rights", request(), one))),
    );
    assert.equal(states.sort(), ["acquired", "rejected", "rejected", "rejected"]);
    const later = request({}, { start_date: day(31), end_date: day(40) });
    assert.is(stateOf(await own.ask("acquire_rights", later, "e")), "acquired");
    await own.close();
  });

  test(`${version}: who decides may take his time, or refuse; a governed account needs its agent's word`, async () => {
    const detail = "A person signs this.";
    let decision: Awaited<ReturnType<NonNullable<BrandsPort["decide"]>>> = { decision: "wait", detail };
    const own = await sellerOf(version, { decide: async () => decision });
    const waiting = await own.ask("acquire_rights", request());
    assert.equal([stateOf(waiting), waiting.detail], ["pending_approval", detail]);
    const early = await own.refused("update_rights", { ...key(), rights_id: waiting.rights_id, paused: true });
    assert.is(early.code, "INVALID_STATE");
    decision = { decision: "refuse", reason: "Not for this." };
    assert.is((await own.ask("acquire_rights", request())).reason, "Not for this.");
    decision = { decision: "no" } as never;
    await own.refused("acquire_rights", request());
    decision = { decision: "grant" };
    const governance_agents = [
      { url: "https://gov.example", authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
    ];
    await own.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
    const ungoverned = await own.ask("acquire_rights", request({ account }));
    assert.is(stateOf(ungoverned), "rejected");
    assert.match(ungoverned.reason, "https://gov.example");
    await own.close();
  });
}

for (const version of versions)
  test(`${version}: what a brand says to a claim is signed, for the question and who asked it`, async () => {
    const { tools, word } = await publishedRelease(version);
    if (tools.verify_brand_claim === undefined) return;
    const own = await sellerOf(version);
    const { keys } = (await own.seller.app.inject("/.well-known/jwks.json")).json();
    const [jwk] = keys.filter((one: Record<string, unknown>) => one[`${word}_use`] === "response-signing");
    const verified = (signed: { protected: string; signature: string; payload: Record<string, unknown> }) => {
      const input = `${signed.protected}.${Buffer.from(canonicalize(signed.payload)!).toString("base64url")}`;
      const signature = Buffer.from(signed.signature, "base64url");
      assert.ok(verify(null, Buffer.from(input), { key: jwk as never, format: "jwk" }, signature));
      assert.is(JSON.parse(Buffer.from(signed.protected, "base64url").toString()).typ, signed.payload.typ);
      return signed.payload as { [name: string]: unknown; response: { results?: unknown } };
    };
    const claim = { claim_type: "trademark", claim: { mark: "ACME Outdoor" } };
    const context = { correlation_id: "asked-1" };
    const { signed_response, ...answer } = await own.ask("verify_brand_claim", { ...claim, context });
    assert.equal([answer.verification_status, answer.details.countries], ["owned", ["US", "CA"]]);
    const payload = verified(signed_response);
    const { claim_type, verification_status, details } = answer;
    assert.equal(payload.response, { claim_type, verification_status, details, context: answer.context });
    assert.equal([payload.brand_domain, Number(payload.exp) - Number(payload.iat)], ["acmeoutdoor.example", 300]);
    const others = [
      await own.ask("verify_brand_claim", claim, "somebody-else"),
      await own.ask("verify_brand_claim", { ...claim, claim: { mark: "Other" } }),
    ];
    for (const other of others) assert.not.equal(verified(other.signed_response).request_hash, payload.request_hash);
    const parent = { claim_type: "parent", claim: { parent_domain: "house.example" } };
    const all = await own.ask("verify_brand_claims", { claims: [claim, parent] });
    assert.equal(
      all.results.map(({ status }: { status: string }) => status),
      ["owned", "not_ours"],
    );
    assert.equal(verified(all.signed_response).response.results, all.results);
    const silent = await behavingSeller(version, ["brand_rights"], {
      ports: { brands: { ...exampleBrands, claims: undefined } as never },
    });
    assert.match((await silent.refused("verify_brand_claim", claim)).message, "verify_brand_claim");
    await silent.close();
    await own.close();
  });

test("where a release wants proof of a licence, it binds what the licence allows", async () => {
  const version = "3.2.0-beta.4";
  if (!versions.includes(version)) return;
  const own = await sellerOf(version);
  const { rights_constraint } = await own.ask("acquire_rights", request());
  const { content_digest, attestation_refs, ...bound } = rights_constraint;
  const digest = `sha256:${createHash("sha256").update(canonicalize(bound)!).digest("hex")}`;
  assert.is(content_digest, digest);
  const [{ subject, embedded_credential }] = attestation_refs;
  assert.is(subject.content_digest, digest);
  const [head, body, signature] = embedded_credential.value.split(".");
  const { keys } = (await own.seller.app.inject("/.well-known/jwks.json")).json();
  const jwk = keys.find(
    ({ kid }: { kid: string }) => kid === JSON.parse(Buffer.from(head, "base64url").toString()).kid,
  );
  const signed = Buffer.from(`${head}.${body}`);
  assert.ok(verify(null, signed, { key: jwk as never, format: "jwk" }, Buffer.from(signature, "base64url")));
  await own.close();
});

test.run();
