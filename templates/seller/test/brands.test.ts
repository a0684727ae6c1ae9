/** Rights from their discovery to a licence. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "adbind/contract";
import { codeOf, openTestSeller } from "./caller.js";

const DAY_MS = 86_400_000;
const day = (offset: number): string => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

test("a licence is for what is yet to come", async () => {
  const wanted = { query: "images", uses: ["ai_generated_image"] };
  const { rights } = (await seller.read("get_rights", wanted)) as {
    rights: { rights_id: string; pricing_options: { pricing_option_id: string }[] }[];
  };
  const [offer] = rights;
  assert.ok(offer);
  const acquire = (end_date: string): Promise<JsonObject> =>
    seller.call("acquire_rights", {
      rights_id: offer.rights_id,
      pricing_option_id: offer.pricing_options[0]?.pricing_option_id,
      buyer: { domain: "buyer.example" },
      campaign: { description: "Spring", uses: ["ai_generated_image"], end_date },
      revocation_webhook: { url: "https://buyer.example/revoked" },
    });
  const { terms } = await acquire(day(30));
  assert.equal((terms as JsonObject).end_date, day(30));
  assert.equal(codeOf(await acquire(day(-30))), "INVALID_REQUEST");
});
