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

const banner = (creative_id: string) => ({
  creative_id,
  name: creative_id,
  format_id: { agent_url: "https://seller.example/mcp", id: "display_300x250" },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width: 300, height: 250 } },
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

  test(`${version}: a creative of one account serves no media buy of another, and is told of in none`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"]);
    const sync = async (of: typeof account, more: object) =>
      (await ask("sync_creatives", { ...key(), account: of, ...more })).creatives;
    await sync(account, { creatives: [banner("ours")] });
    const named = { packages: [{ ...line, creative_assignments: [{ creative_id: "ours" }] }] };
    const theirs = await ask("create_media_buy", order(other, named));
    const [{ package_id }] = theirs.packages;
    const assignments = [{ creative_id: "ours", package_id }];
    const [, told] = await sync(other, { creatives: [banner("theirs")], assignments });
    assert.is(told.action, "failed");
    const own = await ask("create_media_buy", order());
    const into = {
      creatives: [banner("theirs")],
      assignments: [{ creative_id: "theirs", package_id: own.packages[0].package_id }],
    };
    const [line1] = await sync(other, into);
    assert.ok(Object.hasOwn(line1.assignment_errors, own.packages[0].package_id));
    for (const media_buy_id of [theirs.media_buy_id, own.media_buy_id]) {
      const [buy] = (await ask("get_media_buys", { media_buy_ids: [media_buy_id] })).media_buys;
      assert.equal([buy.status, buy.packages[0].creative_approvals], ["pending_creatives", undefined]);
    }
    const { creatives } = await ask("list_creatives", { include_assignments: true });
    assert.ok(
      creatives.every((one: { assignments: { assignment_count: number } }) => one.assignments.assignment_count === 0),
    );
    await close();
  });

  test(`${version}: goals of one account's packages are not fed by another's event source`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["events"] });
    await ask("sync_event_sources", {
      ...key(),
      account: other,
      event_sources: [{ event_source_id: "px", name: "P" }],
    });
    const sources = [{ event_source_id: "px", event_type: "purchase" }];
    const goal = { kind: "event", event_sources: sources, priority: 1 };
    const goals = order(account, { packages: [{ ...line, optimization_goals: [goal] }] });
    const { field } = await refused("create_media_buy", goals);
    assert.is(field, "packages[0].optimization_goals[0].event_sources[0].event_source_id");
    const theirs = order(other, { packages: [{ ...line, optimization_goals: [goal] }] });
    assert.ok((await ask("create_media_buy", theirs)).media_buy_id);
    await close();
  });
}

test.run();
