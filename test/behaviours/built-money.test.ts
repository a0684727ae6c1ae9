/** What is paid for creatives that are made: nothing that was not asked for, nothing twice, nothing without its governance. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { exampleTransformers, type RenderJob, type TransformersPort } from "../../runtime/behaviours/index.js";
import { ToolError } from "../../runtime/seller/tool-error.js";
import { account, behavingSeller, key, publishedRelease, versionsWith } from "./behaving-seller.js";

const SPECIALISM = "creative_transformers";
const VOICE = { transformer_id: "audiostack_voiceover" };
const governance_agents = [
  { url: "https://gov.example", authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
];

/** A seller, what it has made, and how its release names targets. */
async function making(version: string, ports: Partial<TransformersPort> = {}) {
  const jobs: RenderJob[] = [];
  const render: typeof exampleTransformers.render = async (job, call) => {
    jobs.push(job);
    return exampleTransformers.render(job, call);
  };
  const own = await behavingSeller(version, [SPECIALISM], {
    with: ["governance-agents"],
    ports: { transformers: { ...exampleTransformers, render, ...ports } },
  });
  const release = await publishedRelease(version);
  const schemas = await release.schemas();
  const canonical = schemas[release.tools.build_creative!.request as string]?.includes("target_capability_id") === true;
  const named = (id: string) => ({ agent_url: "https://seller.example/mcp", id });
  const target = (id: string) => (canonical ? { target_capability_id: id } : { target_format_id: named(id) });
  const targets = (...ids: string[]) =>
    canonical ? { target_capability_ids: ids } : { target_format_ids: ids.map(named) };
  const order = (more: object, id = "audio_vo") => ({ ...key(), account, message: "Come", ...target(id), ...more });
  const govern = () => own.ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
  return { ...own, jobs, targets, order, govern, plural: Object.keys(targets())[0]! };
}

for (const version of await versionsWith(SPECIALISM)) {
  test(`${version}: what is refined is paid on the word of its account's governance, whoever names the account`, async () => {
    const { ask, refused, order, govern, jobs, close } = await making(version);
    const { build_variant_id } = await ask("build_creative", order(VOICE));
    await govern();
    const refining = { ...key(), message: "Slower", refine_from_build_variant_id: build_variant_id };
    assert.is((await refused("build_creative", refining)).code, "PERMISSION_DENIED");
    const { account: _, ...unnamed } = order(VOICE);
    const refusal = await refused("build_creative", unnamed);
    assert.equal([refusal.code.slice(0, 8), refusal.field], ["ACCOUNT_", "account"]);
    assert.is(jobs.length, 1);
    await ask("build_creative", unnamed, "somebody-ungoverned");
    await ask("build_creative", { ...refining, ...key(), governance_context: "a.word.signed" });
    await close();
  });

  test(`${version}: of a knob there are as many creatives as it has values, however many may be made`, async () => {
    const { ask, order, jobs, close } = await making(version);
    const themes = { transformer_id: "poster_display", variant_axis: { dimension: "theme" }, max_variants: 5 };
    const made = await ask("build_creative", order(themes, "display_poster_300x250"));
    assert.equal(
      made.creatives[0].variants.map((one: { variant_axis_value: string }) => one.variant_axis_value),
      ["day", "night"],
    );
    assert.equal([made.vendor_cost, jobs.length], [0.8, 2]);
    const estimate = await ask("build_creative", order({ ...themes, mode: "estimate" }, "display_poster_300x250"));
    assert.is(estimate.estimate.cost_high, 0.8);
    await close();
  });

  test(`${version}: several creatives that nothing here makes are refused, and never answered with one`, async () => {
    const { ask, refused, order, jobs, close } = await making(version);
    const signal_conditions = [
      { value_type: "binary", value: true, signal_ref: { scope: "product", signal_id: "rain" } },
    ];
    const several: [string, object][] = [
      ["max_creatives", { ...VOICE, max_creatives: 3 }],
      ["max_variants", { max_variants: 2 }],
      ["variant_axis", { variant_axis: { dimension: "best_of_n" } }],
    ];
    if (!version.startsWith("3.1")) several.push(["signal_conditions", { ...VOICE, signal_conditions }]);
    for (const [field, more] of several) {
      const refusal = await refused("build_creative", order(more));
      assert.equal([refusal.code, refusal.field], ["UNSUPPORTED_FEATURE", field]);
    }
    assert.is(jobs.length, 0);
    await ask("build_creative", order({ max_variants: 1 }, "display_300x250"));
    await close();
  });

  test(`${version}: a transformer starts from the creative of the library that is named, and from no other`, async () => {
    const { ask, refused, order, jobs, close } = await making(version);
    const unknown = await refused("build_creative", order({ ...VOICE, creative_id: "never" }));
    assert.equal([unknown.code, unknown.field, jobs.length], ["CREATIVE_NOT_FOUND", "creative_id", 0]);
    const assets = { script: { asset_type: "text", content: "Of the library" } };
    await ask("comply_test_controller", {
      account: { ...account, sandbox: true },
      scenario: "seed_creative",
      params: { creative_id: "hero", fixture: { format_id: { id: "audio_30s" }, assets } },
    });
    await ask("build_creative", order({ ...VOICE, creative_id: "hero" }));
    assert.equal(jobs[0]!.assets, assets);
    await close();
  });

  test(`${version}: of several targets the one that cannot be had is named by its place`, async () => {
    const { refused, order, targets, plural, close } = await making(version);
    for (const [more, wrong] of [
      [{}, "nonsense"],
      [VOICE, "display_300x250"],
    ] as const) {
      const { target_capability_id: _, target_format_id: __, ...rest } = order(more) as Record<string, unknown>;
      const refusal = await refused("build_creative", { ...rest, ...targets("audio_vo", wrong) });
      assert.is(refusal.field, `${plural}[1]`);
    }
    await close();
  });

  test(`${version}: what the maker refuses of one of several targets is told with its place`, async () => {
    const two = ["audio_vo", "audio_30s"] as const;
    const [voice] = await exampleTransformers.transformers({ principal: "buyer", accountId: undefined });
    const { refused, order, targets, plural, close } = await making(version, {
      transformers: async () => [{ ...voice!, outputs: [...two] }],
      render: async ({ format, ...job }, call) => {
        if (format.id === two[1]) throw new ToolError("CREATIVE_REJECTED", "too long for this one");
        return exampleTransformers.render({ format, ...job }, call);
      },
    });
    const { target_capability_id: _, target_format_id: __, ...rest } = order(VOICE) as Record<string, unknown>;
    const refusal = await refused("build_creative", { ...rest, ...targets(...two) });
    assert.equal([refusal.code, refusal.field], ["CREATIVE_REJECTED", `${plural}[1]`]);
    await close();
  });

  test(`${version}: nothing is estimated of what would be refused`, async () => {
    const { ask, refused, order, close } = await making(version);
    const mode = "estimate";
    await ask("build_creative", order({ mode }, "display_300x250"));
    await refused("build_creative", order({ mode }, "nonsense"));
    assert.is((await refused("build_creative", order({ mode, creative_id: "never" }))).field, "creative_id");
    await close();
  });
}

test.run();
