/** Content standards, what a reader of plain sentences makes of content, and who may judge in its place. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ownAdServer, plainPolicies } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

const policy = (text: string, enforcement: "must" | "should" = "must", id = "p") => ({
  policy_id: id,
  policy: text,
  enforcement,
});

const artifact = (said: string, more: object = {}) => ({
  property_rid: "site.example",
  artifact_id: "a",
  assets: [{ type: "text", content: said, ...more }],
});

const judged = async (text: string, content: ReturnType<typeof artifact>): Promise<string> =>
  (await plainPolicies.content({ policy: policy(text), artifact: content, exemplars: {} })).status;

const status = (text: string, said: string): Promise<string> => judged(text, artifact(said));

test("prohibitions are found in what the content says, whatever the words' endings", async () => {
  assert.is(await status("No violent or controversial imagery", "A violent scene"), "failed");
  assert.is(await status("No violent or controversial imagery", "A quiet scene"), "passed");
  assert.is(await status("No stock photography", "taken from stock photo no. 5"), "failed");
  assert.is(await status("No stock photography", "a photo of our own"), "passed");
  assert.is(await status("No alcohol, gambling, or tobacco content.", "an evening of gambling"), "failed");
});

test("what is not read is not decided, and what is read of the same policy is", async () => {
  assert.is(await status("Be kind.", "rude"), "unevaluated");
  assert.is(await status("Family-friendly content only. No political advertising.", "a quiet scene"), "unevaluated");
  assert.is(await status("Family-friendly content only. No political advertising.", "political"), "failed");
});

test("images are held to what is asked of images, and credentials are not read", async () => {
  const image = { type: "image", url: "https://cdn.example/x.png", access: { token: "violent" } };
  const own = { ...artifact(""), assets: [image] } as never as ReturnType<typeof artifact>;
  assert.is(await judged("All images must have alt text", own), "failed");
  assert.is(await judged("Images of 300 dpi", own), "unevaluated");
  assert.is(await judged("No violent imagery", own), "passed");
});

test("content that says a forbidden word always fails, and none of another kind does", async () => {
  const word = fc.string({ unit: fc.constantFrom(..."bcdfgklmnprstvz"), minLength: 6, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(word, fc.array(word, { maxLength: 8 }), async (forbidden, others) => {
      const clean = others.filter(
        (other) => !other.startsWith(forbidden.slice(0, 5)) && !forbidden.startsWith(other.slice(0, 5)),
      );
      assert.is(await status(`No ${forbidden} content.`, [...clean, forbidden].join(" ")), "failed");
      assert.is(await status(`No ${forbidden} content.`, clean.join(" ")), "passed");
    }),
  );
});

for (const version of versions) {
  test(`${version}: content is judged by the standards as they are now, and examples decide by themselves`, async () => {
    const own = await behavingSeller(version, ["content_standards"]);
    const scope = { languages_any: ["en"], description: "Acme" };
    const { standards_id } = await own.ask("create_content_standards", {
      account,
      ...key(),
      scope,
      policies: [policy("All images must have alt text", "should", "alt")],
    });
    const image = { type: "image", url: "https://cdn.example/x.png", width: 300, height: 250 };
    const content = { property_rid: "r", artifact_id: "a", assets: [image] };
    const judge = () => own.ask("calibrate_content", { account, ...key(), standards_id, artifact: content });
    assert.equal([(await judge()).verdict, (await judge()).features[0].status], ["pass", "warning"]);
    const stricter = { policies: [policy("All images must have alt text", "must", "alt")] };
    await own.ask("update_content_standards", { account, ...key(), standards_id, ...stricter });
    assert.is((await judge()).verdict, "fail");
    await own.ask("update_content_standards", {
      account,
      ...key(),
      standards_id,
      calibration_exemplars: { pass: [content] },
    });
    assert.is((await judge()).verdict, "pass");
    const records = [
      { record_id: "1", artifact: content },
      { record_id: "2", artifact: { ...content, artifact_id: "b" } },
    ];
    const judged = await own.ask("validate_content_delivery", { standards_id, records, include_passed: false });
    assert.equal(judged.summary, { total_records: 2, passed_records: 1, failed_records: 1 });
    assert.is(judged.results[0].record_id, "2");
    assert.is((await own.ask("get_content_standards", { standards_id })).name, "Acme");
    assert.is((await own.ask("list_content_standards", { languages: ["fr"] })).standards.length, 0);
    const twice = { policies: [policy("a", "must", "x"), policy("b", "must", "x")] };
    const refused = await own.refused("update_content_standards", { ...key(), standards_id, ...twice });
    assert.is(refused.field, "policies[1].policy_id");
    const borrowed = { ...key(), standards_id, policies: [policy("a"), policy("b", "must", "registry:violence")] };
    assert.is((await own.refused("update_content_standards", borrowed)).field, "policies[1].policy_id");
    await own.close();
  });

  test(`${version}: languages that standards do not cover, and policies nobody has the text of, are not evaluated`, async () => {
    const registered = async (id: string) => (id === "known" ? policy("No violent imagery", "must", id) : undefined);
    const own = await behavingSeller(version, ["content_standards"], {
      ports: { policy: { ...plainPolicies, registered } },
    });
    const { standards_id } = await own.ask("create_content_standards", {
      ...key(),
      scope: { languages_any: ["en"] },
      registry_policy_ids: ["known", "lost"],
    });
    const judge = (content: object) => own.ask("calibrate_content", { ...key(), standards_id, artifact: content });
    const { verdict, features } = await judge(artifact("A violent storm"));
    assert.is(verdict, "fail");
    const statuses = features.map((one: { policy_id: string; status: string }) => [one.policy_id, one.status]);
    assert.equal(statuses, [
      ["known", "failed"],
      ["lost", "unevaluated"],
    ]);
    assert.is((await judge(artifact("violent", { language: "de-AT" }))).features[0].status, "unevaluated");
    const stranger = await own.refused("get_content_standards", { standards_id }, "somebody-else");
    assert.is(stranger.code, "REFERENCE_NOT_FOUND");
    await own.close();
  });
}

for (const version of versions) {
  test(`${version}: what can be measured of a creative is declared, and measured; who measures nothing does not offer it`, async () => {
    const own = await behavingSeller(version, ["content_standards"]);
    const { governance } = await own.ask("get_adcp_capabilities", {});
    const ids = governance.creative_features.map(({ feature_id }: { feature_id: string }) => feature_id);
    const creative_manifest = {
      format_id: { agent_url: "https://formats.example", id: "display_300x250" },
      assets: {
        image: { asset_type: "image", url: "http://cdn.example/a.png", width: 300, height: 250 },
        headline: { asset_type: "text", content: "Sleep outside tonight" },
      },
    };
    const { results } = await own.ask("get_creative_features", { ...key(), creative_manifest });
    const values = results.map(({ feature_id, value }: { feature_id: string; value: unknown }) => [feature_id, value]);
    assert.equal(
      values.map(([id]: [string]) => id),
      ids,
    );
    assert.equal(Object.fromEntries(values), { secure_addresses: false, images_described: false, word_count: 3 });
    const one = await own.ask("get_creative_features", { ...key(), creative_manifest, feature_ids: ["word_count"] });
    assert.is(one.results.length, 1);
    const unknown = await own.refused("get_creative_features", { ...key(), creative_manifest, feature_ids: ["x"] });
    assert.is(unknown.field, "feature_ids[0]");
    await own.close();
    const { creatives: _, ...policy } = plainPolicies;
    const none = await behavingSeller(version, ["content_standards"], { ports: { policy } });
    assert.match((await none.refused("get_creative_features", { creative_manifest })).message, "get_creative_features");
    await none.close();
  });

  test(`${version}: the content that a buy ran beside is given to its buyer, page by page`, async () => {
    const records = Array.from({ length: 5 }, (_, at) => ({
      ...{ record_id: `r${at}`, timestamp: "2026-03-01T00:00:00Z", package_id: at < 3 ? "p1" : "p2" },
      artifact: artifact(`Story ${at}`),
      ...(at === 1 && { local_verdict: "fail" as const }),
    }));
    const asked: object[] = [];
    const content = async (_: object, time: object) => {
      asked.push(time);
      return { deliveries: 50, records };
    };
    const own = await behavingSeller(version, ["content_standards", "sales_guaranteed"], {
      ports: { adServer: { ...ownAdServer, content } },
    });
    const start = new Date(Date.now() + 86_400_000).toISOString();
    const end_time = new Date(Date.now() + 8 * 86_400_000).toISOString();
    const { products } = await own.ask("get_products", { buying_mode: "brief", brief: "display", account });
    const [{ product_id, pricing_options }] = products;
    const line = { product_id, pricing_option_id: pricing_options[0].pricing_option_id, budget: 5_000 };
    const order = { ...key(), account, brand: account.brand, start_time: start, end_time, packages: [line] };
    const { media_buy_id } = await own.ask("create_media_buy", order);
    const time_range = { start: "2026-03-01T00:00:00Z" };
    const read = (more: object = {}) => own.ask("get_media_buy_artifacts", { media_buy_id, time_range, ...more });
    const ids = ({ artifacts }: { artifacts: { record_id: string }[] }) => artifacts.map(({ record_id }) => record_id);
    const first = await read({ pagination: { max_results: 2 } });
    assert.equal([ids(first), first.collection_info.effective_rate], [["r0", "r1"], 0.1]);
    assert.equal(asked, [{ from: time_range.start, before: undefined }]);
    const rest = await read({ pagination: { max_results: 9, cursor: first.pagination.cursor } });
    assert.equal(ids(rest), ["r2", "r3", "r4"]);
    assert.is(rest.artifacts[0].local_verdict, "unevaluated");
    assert.equal(
      [ids(await read({ package_ids: ["p2"] })), ids(await read({ failures_only: true }))],
      [["r3", "r4"], ["r1"]],
    );
    const foreign = await own.refused("get_media_buy_artifacts", { media_buy_id }, "somebody-else");
    assert.is(foreign.code, "MEDIA_BUY_NOT_FOUND");
    const other = { brand: { domain: "novamotors.example" }, operator: "pinnacle.example" };
    const apart = await own.refused("get_media_buy_artifacts", { media_buy_id, account: other });
    assert.is(apart.code, "MEDIA_BUY_NOT_FOUND");
    await own.close();
  });
}

test.run();
