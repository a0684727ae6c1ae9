/** Content standards, what a reader of plain sentences makes of content, and who may judge in its place. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { plainPolicies } from "../../runtime/behaviours/index.js";
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

test.run();
