/** A creative from a brief to its preview. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestSeller } from "./caller.js";

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

test("what a brief asks for is in the preview that is served", async () => {
  const { creative_manifest } = await seller.call("build_creative", {
    message: "A banner for a tent. Headline 'Sleep outside'",
    target_format_id: { agent_url: "http://127.0.0.1:3000/mcp", id: "display_300x250_generative" },
  });
  const shown = (await seller.read("preview_creative", { request_type: "single", creative_manifest })) as {
    previews: { renders: { preview_url: string }[] }[];
  };
  const url = shown.previews[0]?.renders[0]?.preview_url;
  assert.ok(url);
  const page = await seller.seller.app.inject(new URL(url).pathname);
  assert.match(page.body, /Sleep outside/);
});
