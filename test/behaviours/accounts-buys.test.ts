/** A media buy is an account's: another account of the same caller does not change it, nor is it shown with its creatives. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const other = { brand: { domain: "other.example" }, operator: account.operator };
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
const order = (of: typeof account = account, more: object = {}) => ({
  ...key(),
  ...{ account: of, brand: of.brand, ...until, packages: [line] },
  ...more,
});

for (const version of versions) {
  test(`${version}: a media buy of one account is neither changed nor canceled under another's name`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const { media_buy_id } = await ask("create_media_buy", order());
    await ask("create_media_buy", order(other));
    for (const change of [{ canceled: true }, { paused: true }, { end_time: "2099-03-01T00:00:00Z" }]) {
      const { code } = await refused("update_media_buy", { ...key(), account: other, media_buy_id, ...change });
      assert.is(code, "MEDIA_BUY_NOT_FOUND");
    }
    const [kept] = (await ask("get_media_buys", { media_buy_ids: [media_buy_id] })).media_buys;
    assert.equal([kept.revision, kept.packages[0].end_time], [1, until.end_time]);
    const own = { ...key(), account: { ...account, brand }, media_buy_id, end_time: "2099-03-01T00:00:00Z" };
    assert.is((await ask("update_media_buy", own)).revision, 2);
    await close();
  });
}

test.run();
