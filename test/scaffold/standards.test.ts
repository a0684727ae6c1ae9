/** Content standards of the reference seller. */
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { judgeContent } from "../../templates/seller/domain/standards/evaluate.js";
import { readContentPolicy } from "../../templates/seller/domain/standards/read.js";
import { account, key, type TemplateSeller, templateSeller } from "./template-seller.js";

const test = suite<{ own: TemplateSeller }>("reference seller: content standards");
test.before.each(async (context) => {
  context.own = await templateSeller();
});
test.after.each(({ own }) => own.close());

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

const verdict = (text: string, said: string, enforcement: "must" | "should" = "must"): string =>
  judgeContent({ policies: [policy(text, enforcement)] }, artifact(said)).verdict;

test("prohibitions are found in what the content says, whatever the words' endings", () => {
  assert.is(verdict("No violent or controversial imagery", "A violent scene"), "fail");
  assert.is(verdict("No violent or controversial imagery", "A quiet scene"), "pass");
  assert.is(verdict("No stock photography", "taken from stock photo no. 5"), "fail");
  assert.is(verdict("No stock photography", "a photo of our own"), "pass");
  assert.is(verdict("No alcohol, gambling, or tobacco content.", "an evening of gambling"), "fail");
  assert.is(verdict("No violent imagery", "A violent scene", "should"), "pass");
});

test("what is not read is not decided", () => {
  assert.equal(
    readContentPolicy("Family-friendly content only. No political advertising.").map(({ kind }) => kind),
    ["unread", "prohibits"],
  );
  const { features } = judgeContent({ policies: [policy("Be kind.")] }, artifact("rude"));
  assert.is(features[0]?.status, "unevaluated");
});

test("images are held to what is asked of images, credentials are not read, and other languages are not covered", () => {
  const image = { type: "image", url: "https://cdn.example/x.png", access: { token: "violent" } };
  const own = { property_rid: "r", artifact_id: "a", assets: [image] };
  assert.is(judgeContent({ policies: [policy("All images must have alt text")] }, own).verdict, "fail");
  assert.is(judgeContent({ policies: [policy("No violent imagery")] }, own).verdict, "pass");
  const german = judgeContent(
    { policies: [policy("No violent imagery")], languages_any: ["en"] },
    artifact("violent", { language: "de-AT" }),
  );
  assert.is(german.features[0]?.status, "unevaluated");
});

test("content that says a forbidden word always fails, and none of another kind does", () => {
  const word = fc.string({ unit: fc.constantFrom(..."bcdfgklmnprstvz"), minLength: 6, maxLength: 12 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 8 }), (forbidden, others) => {
      const clean = others.filter(
        (other) => !other.startsWith(forbidden.slice(0, 5)) && !forbidden.startsWith(other.slice(0, 5)),
      );
      assert.is(verdict(`No ${forbidden} content.`, [...clean, forbidden].join(" ")), "fail");
      assert.is(verdict(`No ${forbidden} content.`, clean.join(" ")), "pass");
    }),
  );
});

test("content is judged by the standards as they are now, and examples decide by themselves", async ({ own }) => {
  const scope = { languages_any: ["en"], description: "Acme" };
  const { standards_id } = await own.ask("create_content_standards", {
    ...account(),
    ...key(),
    scope,
    policies: [policy("All images must have alt text", "should", "alt")],
  });
  const image = { type: "image", url: "https://cdn.example/x.png", width: 300, height: 250 };
  const content = { property_rid: "r", artifact_id: "a", assets: [image] };
  const judge = () => own.ask("calibrate_content", { ...account(), ...key(), standards_id, artifact: content });
  assert.equal([(await judge()).verdict, (await judge()).features[0].status], ["pass", "warning"]);
  const stricter = { policies: [policy("All images must have alt text", "must", "alt")] };
  await own.ask("update_content_standards", { ...account(), ...key(), standards_id, ...stricter });
  assert.is((await judge()).verdict, "fail");
  await own.ask("update_content_standards", {
    ...account(),
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
});

test.run();
