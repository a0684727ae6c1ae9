/** What the newest release has beside: a tool for each step of an order, configured products, provenance, who is told. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product, type VerifierQuestion } from "../../runtime/behaviours/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const verifier = { agent_url: "https://verifier.example", feature_id: "ai_generated" };

const video: Product = {
  product_id: "video",
  name: "Video",
  description: "Online video before outdoor programmes.",
  delivery_type: "non_guaranteed",
  channels: ["olv"],
  formats: ["video_30s"],
  pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 20 }],
  more: {
    overlay_support: { geo_countries: { max_values_per_package: 1 }, demographics: { age: true } },
    demographic_targeting: {
      age: {
        execution_modes: ["enumerated_intervals"],
        unknown_handling: "always_excluded",
        intervals: [
          { interval_id: "a", age: { min: 18, max: 24, include_unknown: false } },
          { interval_id: "b", age: { min: 25, max: 34, include_unknown: false } },
        ],
      },
    },
    creative_policy: {
      co_branding: "optional",
      landing_page: "any",
      templates_available: false,
      provenance_required: true,
      provenance_requirements: { require_digital_source_type: true, require_disclosure_metadata: true },
      accepted_verifiers: [verifier],
    },
  },
};

/** One seller for all: what a release is, is read once. Its price is changed between the tests. */
const products = [video];
const asked: VerifierQuestion[] = [];
let generated = false;
const opened = there
  ? await behavingSeller(version, ["sales_guaranteed"], {
      with: ["principals", "account-changes"],
      ports: {
        catalogue: { ...listedCatalogue([]), products: async () => products },
        provenance: {
          async verify(question) {
            asked.push(question);
            return { feature_id: "ai_generated", value: generated, confidence: 0.95 };
          },
        },
      },
    })
  : undefined;

const lifecycle = (name: string, run: (seller: NonNullable<typeof opened>) => Promise<void>): void => {
  if (opened !== undefined) test(name, () => run(opened));
};

lifecycle("published offers are bought as they were seen, and not at a price that has changed", async (seller) => {
  const { ask, refused } = seller;
  const criteria = { product_ids: ["video"] };
  const { feed_version, pricing_version, products: found } = await ask("list_products", { criteria });
  assert.is(found[0].pricing_options[0].fixed_price, 20);
  const seen = { if_feed_version: feed_version, if_pricing_version: pricing_version };
  assert.is((await ask("list_products", seen)).outcome, "unchanged");
  products[0] = { ...video, pricing_options: [{ ...video.pricing_options[0]!, fixed_price: 25 }] };
  const purchases = [{ product_id: "video", pricing_option_id: "cpm", budget: 1000 }];
  const order = { account, feed_version, pricing_version, purchases, ...flight };
  const late = await refused("buy_products", { ...key(), ...order });
  assert.equal([late.code, late.field], ["CONFLICT", "pricing_version"]);
  assert.is((await ask("list_products", seen)).outcome, "listed");
  const now = (await ask("list_products", {})).pricing_version;
  const bought = await ask("buy_products", { ...key(), ...order, pricing_version: now });
  const { accepted_proposal: agreed, media_buy_id, revision } = bought;
  assert.is(agreed.commercial_terms.purchases[0].pricing.fixed_price, 25);
  const control = { ...key(), account, media_buy_id, revision, daily_budget_cap: 100 };
  const controlled = await ask("control_media_buy", control);
  assert.is(controlled.revision, revision + 1);
  assert.is((await refused("control_media_buy", { ...control, ...key() })).code, "CONFLICT");
  const { media_buys } = await ask("get_media_buys", { account, media_buy_ids: [media_buy_id] });
  assert.is(media_buys[0].accepted_proposal_terms_digest, agreed.terms_digest);
});

lifecycle("a proposal is drafted, finalized and accepted under its digest; once", async ({ ask, refused }) => {
  const brief = "Plan a USD 3,000 online-video campaign from January 5 through March 31, 2099.";
  const { proposals } = await ask("request_proposals", { ...key(), account, brief });
  const [draft] = proposals;
  assert.equal(draft.commercial_terms.total_budget, { amount: 3000, currency: "USD" });
  assert.is(draft.commercial_terms.end_time, "2099-03-31T23:59:59.000Z");
  const refine = (refinement: object) =>
    ask("refine_proposals", { ...key(), refinements: [{ proposal_id: draft.proposal_id, ...refinement }] });
  const cheaper = await refine({ action: "revise", constraints: { total_budget: { max: 2000, currency: "USD" } } });
  assert.is(cheaper.results[0].proposals[0].commercial_terms.purchases[0].budget, 2000);
  const dear = {
    total_budget: { max: 1, currency: "EUR" },
    cpm: { max: 100, currency: "USD" },
    impressions: { min: 1 },
  };
  const { outcome, reason_code, unsatisfied_constraints } = (await refine({ action: "revise", constraints: dear }))
    .results[0];
  assert.equal([outcome, reason_code], ["unable", "constraint_unsatisfiable"]);
  assert.equal(unsatisfied_constraints, ["total_budget", "impressions"]);
  assert.is((await refine({ action: "revise", ask: "Make it nicer." })).results[0].reason_code, "uninterpreted");
  const { results } = await refine({ action: "finalize" });
  const again = { proposal_id: results[0].proposal.proposal_id, action: "finalize" };
  const refinements = [{ proposal_id: draft.proposal_id, action: "finalize" }, again];
  const twice = await refused("refine_proposals", { ...key(), refinements });
  assert.equal([twice.code, twice.field], ["INVALID_STATE", "refinements[1].proposal_id"]);
  const other = cheaper.results[0].proposals[0].proposal_id;
  const both = await ask("refine_proposals", {
    ...key(),
    refinements: [refinements[0], { proposal_id: other, action: "finalize" }],
  });
  assert.equal(
    both.results.map((one: { outcome: string; reason_code: string }) => [one.outcome, one.reason_code]),
    [
      ["unable", "hold_unavailable"],
      ["unable", "batch_aborted"],
    ],
  );
  const { proposal_id, terms_digest } = results[0].proposal;
  const accept = (more: object) => ({ ...key(), account, proposal_id, proposal_terms_digest: terms_digest, ...more });
  const early = accept({ proposal_id: draft.proposal_id, proposal_terms_digest: draft.terms_digest });
  assert.is((await refused("accept_proposal", early)).code, "PROPOSAL_NOT_COMMITTED");
  const wrong = { proposal_terms_digest: `sha256:${"A".repeat(43)}` };
  assert.is((await refused("accept_proposal", accept(wrong))).code, "CONFLICT");
  const stranger = await refused("accept_proposal", accept({}), "stranger");
  assert.is(stranger.code, "PROPOSAL_NOT_FOUND");
  const booked = await ask("accept_proposal", accept({}));
  assert.is(booked.accepted_proposal.media_buy_id, booked.media_buy_id);
  assert.is((await refused("accept_proposal", accept({}))).code, "INVALID_STATE");
  const declines = [{ proposal_id: cheaper.results[0].proposals[0].proposal_id, reason: "budget_changed" }];
  assert.is((await ask("decline_proposals", { ...key(), declines })).results[0].outcome, "declined");
});

lifecycle("a product is configured for whom it is to reach, and bought so", async ({ ask, refused }) => {
  const find = (more: object) =>
    ask("get_products", { buying_mode: "brief", brief: "outdoor video", account, ...more });
  const ages = { geo_countries: ["US"], demographics: { age: { min: 21, max: 40, include_unknown: false } } };
  const [custom] = (await find({ targeting_overlay: ages })).products;
  assert.is(custom.is_custom, true);
  assert.equal(custom.targeting_resolution.modifications[0].applied, { min: 25, max: 34, include_unknown: false });
  const packages = [{ product_id: custom.product_id, pricing_option_id: "cpm", budget: 1000 }];
  const order = { account, brand, ...flight };
  const { packages: bought } = await ask("create_media_buy", { ...key(), ...order, packages });
  assert.equal(bought[0].targeting_overlay.demographics.age.min, 25);
  const wider = [{ ...packages[0], targeting_overlay: { geo_countries: ["US", "CA"] } }];
  const { code, field } = await refused("create_media_buy", { ...key(), ...order, packages: wider });
  assert.equal([code, field], ["UNSUPPORTED_FEATURE", "packages[0].targeting_overlay.geo_countries"]);
  assert.equal(
    (await find({ targeting_overlay: { browser: ["chrome"] } })).products,
    [],
    "it does not say that it can",
  );
  const words = await find({ brief: "Outdoor video, only in the US and only to people ages 18 through 34." });
  assert.equal(words.targeting_resolution.brief_targeting.geo_countries, ["US"]);
  const two = await refused("get_products", {
    ...{ buying_mode: "brief", brief: "video", account },
    ...{ filters: { countries: ["CA"] }, targeting_overlay: { geo_countries: ["US"] } },
  });
  assert.is(two.code, "INVALID_REQUEST");
});

lifecycle("what no product takes unsaid is refused, and a verifier is believed before a buyer", async ({ ask }) => {
  const sync = async (provenance?: object) => {
    const upload = {
      creative_id: `spot-${asked.length}`,
      name: "Spot",
      format_kind: "video_hosted",
      assets: { video: { asset_type: "video", url: "https://cdn.example/s.mp4", width: 1920, height: 1080 } },
      ...(provenance !== undefined && { provenance }),
    };
    const { creatives } = await ask("sync_creatives", { ...key(), account, creatives: [upload] });
    return creatives[0].errors?.[0]?.code ?? creatives[0].action;
  };
  const source = { digital_source_type: "digital_capture" };
  const said = { ...source, disclosure: { required: false } };
  const by = (agent_url: string) => ({
    embedded_provenance: [{ method: "provenance_markers", provider: "P", verify_agent: { agent_url } }],
  });
  assert.is(await sync(), "PROVENANCE_REQUIRED");
  assert.is(await sync({ disclosure: { required: false } }), "PROVENANCE_DIGITAL_SOURCE_TYPE_MISSING");
  assert.is(await sync(source), "PROVENANCE_DISCLOSURE_MISSING");
  assert.is(await sync({ ...said, ...by("https://elsewhere.example") }), "PROVENANCE_VERIFIER_NOT_ACCEPTED");
  assert.is(asked.length, 0, "a verifier that is not listed is never asked");
  assert.is(await sync({ ...said, ...by("https://VERIFIER.example/") }), "created");
  generated = true;
  assert.is(await sync(said), "PROVENANCE_CLAIM_CONTRADICTED");
  assert.is(await sync({ ...said, digital_source_type: "trained_algorithmic_media" }), "created");
});

lifecycle(
  "what became of an account is read by its caller alone; a principal says where it is told",
  async (seller) => {
    const { ask, refused } = seller;
    const { changes, cursor } = await ask("list_account_changes", { account, starting_position: "earliest" });
    const kinds = new Set(changes.map(({ resource }: { resource: { type: string } }) => resource.type));
    assert.equal([...kinds].sort(), ["account", "creative", "media_buy"]);
    assert.equal((await ask("list_account_changes", { account, cursor })).changes, []);
    const stranger = await refused("list_account_changes", { account, starting_position: "earliest" }, "stranger");
    assert.is(stranger.code, "ACCOUNT_NOT_FOUND");
    const standing = await ask("get_principal", {});
    assert.is(standing.result.kind, "unconfigured");
  },
);

test.run();
process.on("beforeExit", () => void opened?.close());
