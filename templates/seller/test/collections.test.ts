/** A collection list, and what it comes to. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestSeller } from "./caller.js";

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

test("filters leave out what they are told to", async () => {
  const made = await seller.call("create_collection_list", {
    name: "Family",
    filters: { content_ratings_exclude: [{ system: "tv_parental", rating: "TV-MA" }] },
  });
  const { list_id } = made.list as { list_id: string };
  const { collections } = await seller.read("get_collection_list", { list_id });
  const ratings = (collections as { content_rating: { rating: string } }[]).map((one) => one.content_rating.rating);
  assert.ok(ratings.length > 0);
  assert.equal(ratings.includes("TV-MA"), false);
});
