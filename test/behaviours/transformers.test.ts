/** Transformers: knobs that refuse what they do not know, creatives that differ in one of them, and what they cost. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { exampleTransformers, type RenderJob, type TransformersPort } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, key, publishedRelease, type TestSeller, versionsWith } from "./behaving-seller.js";

const transformer_id = "audiostack_voiceover";
const SPECIALISM = "creative_transformers";
const PRICE = 2.5;

const sellerOf = (version: string, transformers: Partial<TransformersPort> = {}): Promise<TestSeller> =>
  behavingSeller(version, [SPECIALISM], { ports: { transformers: { ...exampleTransformers, ...transformers } } });

/** A request as the release has its targets. */
async function orderOf(version: string, more: object = {}): Promise<object> {
  const release = await publishedRelease(version);
  const schemas = await release.schemas();
  const canonical = schemas[release.tools.build_creative!.request as string]?.includes("target_capability_id");
  const target = canonical
    ? { target_capability_id: "audio_vo" }
    : { target_format_id: { agent_url: "https://seller.example/mcp", id: "audio_vo" } };
  return { ...key(), account, message: "Come and see the trail", transformer_id, ...target, ...more };
}

for (const version of await versionsWith(SPECIALISM)) {
  test(`${version}: transformers are found by what is wanted, and values of a knob are given when asked for`, async () => {
    const own = await sellerOf(version);
    const { transformers } = await own.ask("list_transformers", { brief: "a display banner" });
    assert.equal([transformers.length, transformers[0].transformer_id], [1, "poster_display"]);
    const all = (await own.ask("list_transformers", { account, include_pricing: true })).transformers;
    assert.equal([all.length, all[0].pricing_options[0].unit_price], [2, PRICE]);
    assert.is(all[0].params[0].options, undefined);
    const wanted = { transformer_ids: [transformer_id], expand_params: ["voice"], brief: "a calm male voice" };
    const [{ params }] = (await own.ask("list_transformers", wanted)).transformers;
    assert.equal(
      params[0].options.map(({ value }: { value: string }) => value),
      ["isaac"],
    );
    await own.close();
  });

  test(`${version}: long lists of values come in pages`, async () => {
    const voices = Array.from({ length: 60 }, (_, at) => ({ value: `voice-${at}` }));
    const own = await sellerOf(version, { options: async () => voices });
    const seen: unknown[] = [];
    let page: object = { expand_params: ["voice"] };
    for (let asked = 0; asked < 10; asked++) {
      const [{ params }] = (await own.ask("list_transformers", { transformer_ids: [transformer_id], ...page }))
        .transformers;
      seen.push(...params[0].options);
      const { options_cursor } = params[0];
      if (options_cursor === undefined) break;
      page = { expand_pagination: [{ transformer_id, field: "voice", options_cursor }] };
    }
    assert.equal(seen, voices);
    await own.close();
  });

  test(`${version}: a knob that is not there, or cannot be put so, is refused by its name before anything is made`, async () => {
    const jobs: RenderJob[] = [];
    const own = await sellerOf(version, {
      render: async (job, call) => {
        jobs.push(job);
        return exampleTransformers.render(job, call);
      },
    });
    const faults = {
      "config.pitch": { pitch: 2 },
      "config.speaking_rate": { speaking_rate: 9.9 },
      "config.voice": { voice: "nobody" },
      "config.mastering_preset": { mastering_preset: 7 },
    };
    for (const [field, config] of Object.entries(faults)) {
      const refused = await own.refused("build_creative", await orderOf(version, { config }));
      assert.equal([refused.code, refused.field], ["INVALID_REQUEST", field]);
    }
    const foreign = await own.refused("build_creative", await orderOf(version, { transformer_id: "poster_display" }));
    assert.match(foreign.message, "does not make audio_vo");
    assert.equal(jobs, []);
    const made = await own.ask("build_creative", await orderOf(version, { config: { voice: "isaac" } }));
    assert.equal(jobs[0]!.config, { voice: "isaac", mastering_preset: "broadcast", speaking_rate: 1 });
    assert.equal([made.vendor_cost, made.currency], [PRICE, "USD"]);
    const [asset] = Object.values(made.creative_manifest.assets) as { url: string }[];
    const file = await own.seller.app.inject(new URL(asset!.url).pathname);
    assert.equal([file.headers["content-type"], file.rawPayload.subarray(0, 4).toString()], ["audio/wav", "RIFF"]);
    await own.close();
  });

  test(`${version}: variants differ in one knob, and what is refined keeps the rest`, async () => {
    const own = await sellerOf(version);
    const axis = { variant_axis: { dimension: "voice", values: ["isaac", "sara"] }, keep_mode: "keep_one" };
    const two = await own.ask("build_creative", await orderOf(version, { ...axis, config: { speaking_rate: 1.5 } }));
    const [{ variants }] = two.creatives;
    assert.equal([variants.length, two.vendor_cost, two.keep_mode_applied], [2, 2 * PRICE, "keep_one"]);
    assert.equal(
      variants.map(({ variant_axis_value, recommended }: Record<string, unknown>) => [variant_axis_value, recommended]),
      [
        ["isaac", true],
        ["sara", false],
      ],
    );
    const { build_variant_id } = variants[0];
    const more = { ...key(), account, message: "Slower", refine_from_build_variant_id: build_variant_id };
    const refined = await own.ask("build_creative", { ...more, config: { speaking_rate: 0.9 } });
    assert.is(refined.creatives[0].variants[0].parent_build_variant_id, build_variant_id);
    const foreign = await own.refused("build_creative", { ...more, ...key() }, "another-buyer");
    assert.is(foreign.field, "refine_from_build_variant_id");
    const many = await own.ask("build_creative", await orderOf(version, { max_variants: 50 }));
    assert.is(many.creatives[0].variants.length, 8);
    await own.close();
  });

  test(`${version}: nothing is spent beyond what may be, nor without the word of who governs the account`, async () => {
    const jobs = new Set<string>();
    const own = await sellerOf(version, {
      render: async (job, call) => {
        jobs.add(call.idempotencyKey);
        return exampleTransformers.render(job, call);
      },
    });
    const three = { max_variants: 3 };
    const { estimate } = await own.ask("build_creative", await orderOf(version, { ...three, mode: "estimate" }));
    assert.equal([estimate.cost_low, estimate.cost_high, jobs.size], [3 * PRICE, 3 * PRICE, 0]);
    const max_spend = { amount: 6, currency: "USD" };
    const capped = await own.ask("build_creative", await orderOf(version, { ...three, max_spend }));
    assert.equal([capped.budget_status, capped.leaves_returned, capped.vendor_cost], ["capped", 2, 2 * PRICE]);
    const none = await own.refused(
      "build_creative",
      await orderOf(version, { max_spend: { amount: 2, currency: "USD" } }),
    );
    assert.is(none.code, "BUDGET_CAP_REACHED");
    const foreign = { max_spend: { amount: 9, currency: "EUR" } };
    assert.is((await own.refused("build_creative", await orderOf(version, foreign))).field, "max_spend.currency");
    assert.is(jobs.size, 2);
    const governance_agents = [
      { url: "https://gov.example", authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
    ];
    const governing = await behavingSeller(version, [SPECIALISM], { with: ["governance-agents"] });
    await governing.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
    const order = await orderOf(version);
    assert.is((await governing.refused("build_creative", order)).code, "PERMISSION_DENIED");
    await governing.ask("build_creative", { ...order, ...key(), governance_context: "a.word.signed" });
    await governing.close();
    await own.close();
  });

  test(`${version}: a creative is made under the key of its request, and not under that of one that failed`, async () => {
    const keys: string[] = [];
    const own = await sellerOf(version, {
      render: async (job, call) => {
        keys.push(call.idempotencyKey);
        if (keys.length === 1) throw new Error("the answer was lost");
        return exampleTransformers.render(job, call);
      },
    });
    const one = key();
    await own.refused("build_creative", await orderOf(version, one));
    await own.ask("build_creative", await orderOf(version, { ...one, message: "Another one" }));
    assert.is.not(keys[0], keys[1]);
    await own.close();
  });

  test(`${version}: what was made and paid is reported at its price, under its own name or another; others take no report`, async () => {
    const own = await sellerOf(version);
    assert.is((await own.ask("get_adcp_capabilities", {})).creative.bills_through_adcp, true);
    const two = { max_variants: 2 };
    const [{ variants }] = (await own.ask("build_creative", await orderOf(version, two))).creatives;
    const [{ build_variant_id: made, pricing_option_id }] = variants;
    const period = { start: "2099-03-01T00:00:00Z", end: "2099-03-31T23:59:59Z" };
    const use = { account, pricing_option_id, impressions: 1_000, currency: "USD" };
    const report = (by: TestSeller, usage: readonly object[], who?: string) =>
      by.ask("report_usage", { ...key(), reporting_period: period, usage }, who);
    const right = [
      { ...use, creative_id: made, vendor_cost: PRICE },
      { ...use, creative_id: "voice_of_spring", build_variant_id: made, vendor_cost: 0 },
    ];
    const taken = await report(own, right);
    assert.equal([taken.accepted, taken.errors], [2, undefined], JSON.stringify(taken));
    const wrong = {
      vendor_cost: { vendor_cost: 3 * PRICE },
      currency: { currency: "EUR" },
      pricing_option_id: { pricing_option_id: "another" },
      account: { account: { ...account, operator: "another.example" } },
      creative_id: { creative_id: "never_made" },
    };
    const refused = await report(
      own,
      Object.values(wrong).map((more) => ({ ...right[0], ...more })),
    );
    assert.is(refused.accepted, 0);
    assert.equal(
      refused.errors.map(({ field }: { field: string }) => field),
      Object.keys(wrong).map((field, at) => `usage[${at}].${field}`),
    );
    assert.is((await report(own, [right[0]!], "another-buyer")).accepted, 0, "what is another's");
    await own.close();
    const without = await behavingSeller(version, ["creative_ad_server"]);
    assert.is((await without.ask("get_adcp_capabilities", {})).creative.bills_through_adcp, false);
    const [fault] = (await report(without, [right[0]!])).errors;
    assert.equal([fault.code, fault.recovery], ["BILLING_OUT_OF_BAND", "terminal"]);
    await without.close();
  });

  test(`${version}: who has no transformers says so, and makes nothing in their place`, async () => {
    const own = await behavingSeller(version, ["creative_template"]);
    for (const more of [{}, { transformer_id: undefined, mode: "estimate" }]) {
      const refused = await own.refused("build_creative", await orderOf(version, more));
      assert.is(refused.code, "UNSUPPORTED_FEATURE");
    }
    const { creative } = await own.ask("get_adcp_capabilities", {});
    assert.is(creative.supports_transformers, undefined);
    await own.close();
  });
}

test.run();
