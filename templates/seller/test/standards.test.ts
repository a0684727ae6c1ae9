/** Content standards, and what they make of content. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestSeller } from "./caller.js";

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

test("a rule that must hold fails content, one that should only warns", async () => {
  const policy = (enforcement: string) => [{ policy_id: "calm", policy: "No violent imagery.", enforcement }];
  const { standards_id } = await seller.call("create_content_standards", {
    scope: { languages_any: ["en"] },
    policies: policy("should"),
  });
  const assets = [{ type: "text", content: "A violent storm" }];
  const judge = () =>
    seller.call("calibrate_content", { standards_id, artifact: { property_rid: "r", artifact_id: "a", assets } });
  assert.equal((await judge()).verdict, "pass");
  await seller.call("update_content_standards", { standards_id, policies: policy("must") });
  assert.equal((await judge()).verdict, "fail");
});
