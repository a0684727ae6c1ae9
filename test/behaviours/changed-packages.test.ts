/** What a change says of a package is done, or refused: nothing of it is left out without a word. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";
import { notingAdServer } from "./noting-ad-server.js";

const bids = { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", floor_price: 1 };
const vendor = { domain: "attention.example" };
const product = (product_id: string): Product => ({
  ...{ product_id, name: product_id, description: product_id, delivery_type: "non_guaranteed" },
  ...{ channels: ["display"], formats: ["display_300x250_image"], pricing_options: [bids] },
  reporting_capabilities: { vendor_metrics: [{ vendor, metric_id: "attention_units" }] },
});

async function opened(version: string) {
  const { adServer, told } = notingAdServer();
  const catalogue = listedCatalogue([product("one"), product("two")]);
  const seller = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { adServer, catalogue } });
  const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
  const line = (more: object) => ({ product_id: "one", pricing_option_id: "cpm", budget: 1_000, ...more });
  const order = (more: object, whole: object = {}) => ({
    ...{ ...key(), account, brand, ...flight, packages: [line(more)], ...whole },
  });
  return {
    ...seller,
    line,
    order,
    /** The line as the ad server has it. */
    last: () => told.at(-1)!.lines[0]!,
    /** A booked line, and what changes it. */
    async booked(more: object, whole: object = {}) {
      const { media_buy_id, packages } = await seller.ask("create_media_buy", order(more, whole));
      const { package_id } = packages[0];
      return (change: object) => ({ ...key(), account, media_buy_id, packages: [{ package_id, ...change }] });
    },
  };
}

const word = (keyword: string, more: object = {}) => ({ keyword, match_type: "broad", ...more });

for (const version of versions) {
  test(`${version}: keywords are added, replaced and removed where the rest of the targeting stays`, async () => {
    const { ask, refused, booked, last, close } = await opened(version);
    const overlay = { geo_countries: ["US"], keyword_targets: [word("shoe", { bid_price: 1 }), word("hat")] };
    const change = await booked({ targeting_overlay: overlay });
    const keywords = {
      keyword_targets_add: [word("boot"), word("shoe", { bid_price: 2 })],
      keyword_targets_remove: [word("hat"), word("nobody's")],
      negative_keywords_add: [word("free")],
    };
    await ask("update_media_buy", change(keywords));
    assert.equal(last().terms.targeting_overlay, {
      geo_countries: ["US"],
      keyword_targets: [word("shoe", { bid_price: 2 }), word("boot")],
      negative_keywords: [word("free")],
    });
    await ask("update_media_buy", change({ negative_keywords_remove: [word("free")] }));
    assert.not.ok(Object.hasOwn(last().terms.targeting_overlay as object, "negative_keywords"));
    const both = { keyword_targets_add: [word("boot")], keyword_targets_remove: [word("boot")] };
    const { field } = await refused("update_media_buy", change(both));
    assert.is(field, "packages[0].keyword_targets_add[0]");
    await close();
  });

  test(`${version}: an overlay changes what it names where a release has it so, and is the whole where it has not`, async () => {
    const { ask, booked, last, close } = await opened(version);
    const change = await booked({ targeting_overlay: { geo_countries: ["US"], device_type: ["mobile"] } });
    await ask("update_media_buy", change({ targeting_overlay: { device_type: ["desktop"] } }));
    const patched = version >= "3.2.4";
    const after = patched ? { geo_countries: ["US"], device_type: ["desktop"] } : { device_type: ["desktop"] };
    assert.equal(last().terms.targeting_overlay, after);
    if (patched) {
      await ask("update_media_buy", change({ targeting_overlay: { device_type: null } }));
      assert.equal(last().terms.targeting_overlay, { geo_countries: ["US"] });
      const { packages } = await ask("update_media_buy", change({ targeting_overlay: { geo_countries: null } }));
      assert.is(packages, undefined);
      assert.not.ok(Object.hasOwn(last().terms, "targeting_overlay"));
    }
    await close();
  });

  test(`${version}: a bid is placed on a package that had none`, async () => {
    const { ask, booked, last, close } = await opened(version);
    const change = await booked({});
    await ask("update_media_buy", change({ bid_price: 4 }));
    assert.is(last().bid, 4);
    await close();
  });

  test(`${version}: two catalogs of one type are refused, of a new package and of a changed one`, async () => {
    const { refused, booked, order, close } = await opened(version);
    const catalogs = ["a", "b"].map((catalog_id) => ({ type: "product", catalog_id }));
    assert.is((await refused("create_media_buy", order({ catalogs }))).field, "packages[0].catalogs[1].type");
    const change = await booked({ catalogs: catalogs.slice(0, 1) });
    assert.is((await refused("update_media_buy", change({ catalogs }))).field, "packages[0].catalogs[1].type");
    await close();
  });
}

const since = (first: string) => versions.filter((version) => version >= first);

for (const version of since("3.1"))
  test(`${version}: metrics are promised with their time, added to, and not changed`, async () => {
    const { ask, refused, booked, order, last, close } = await opened(version);
    const standard = (metric_id: string, more: object = {}) => ({ scope: "standard", metric_id, ...more });
    const unknown = order({ committed_metrics: [standard("impressions"), standard("reach")] });
    const { code, field } = await refused("create_media_buy", unknown);
    assert.equal([code, field], ["TERMS_REJECTED", "packages[0].committed_metrics[1].metric_id"]);
    const attention = { scope: "vendor", vendor, metric_id: "attention_units" };
    const change = await booked({ committed_metrics: [standard("impressions"), attention] });
    const promised = () => last().terms.committed_metrics as { metric_id: string; committed_at: string }[];
    const first = promised();
    assert.ok(first.every(({ committed_at }) => Date.parse(committed_at) > 0));
    await ask("update_media_buy", change({ committed_metrics: [standard("clicks")] }));
    assert.equal(promised().slice(0, 2), first);
    assert.is(promised()[2]!.metric_id, "clicks");
    const other = { ...attention, methodology_version: "2" };
    assert.is((await refused("update_media_buy", change({ committed_metrics: [other] }))).code, "VALIDATION_ERROR");
    await close();
  });

for (const version of since("3.2.4")) {
  const turn = (creative_id: string, sequence_position: number) => ({
    ...{ creative_id, rotation_mode: "sequential", group_id: "g", sequence_position },
  });

  test(`${version}: the ad server is told how creatives take turns, and two ways of it are refused`, async () => {
    const { ask, refused, booked, order, last, close } = await opened(version);
    const change = await booked({ creative_assignments: [turn("a", 1), turn("b", 2)] });
    assert.equal(last().assignments, [turn("a", 1), turn("b", 2)]);
    const even = { creative_id: "c", rotation_mode: "even" };
    for (const creative_assignments of [
      [turn("a", 1), even],
      [turn("a", 1), turn("b", 1)],
    ]) {
      const refusals = [
        await refused("create_media_buy", order({ creative_assignments })),
        await refused("update_media_buy", change({ creative_assignments })),
      ];
      for (const { code, field } of refusals) {
        assert.is(code, "VALIDATION_ERROR");
        assert.match(field ?? "", /^packages\[0\]\.creative_assignments\[1\]\./);
      }
    }
    await ask("update_media_buy", change({ creative_assignments: [turn("b", 1), turn("a", 2)] }));
    assert.equal(last().assignments, [turn("b", 1), turn("a", 2)]);
    await close();
  });

  test(`${version}: a placement is not taken away from a creative that runs there`, async () => {
    const { ask, refused, booked, order, close } = await opened(version);
    const at = (placement_id: string) => ({ publisher_domain: "seller.example", placement_id });
    const placed = (...ids: readonly string[]) => ({
      targeting_overlay: { placement_selection: { mode: "selected", placement_refs: ids.map(at) } },
    });
    const routed = (id: string) => ({ creative_assignments: [{ creative_id: "a", placement_refs: [at(id)] }] });
    const field = "packages[0].creative_assignments[0].placement_refs";
    assert.is((await refused("create_media_buy", order({ ...placed("top"), ...routed("side") }))).field, field);
    const change = await booked({ ...placed("top", "side"), ...routed("side") });
    assert.is((await refused("update_media_buy", change(placed("top")))).field, field);
    await ask("update_media_buy", change({ ...placed("top"), ...routed("top") }));
    await close();
  });

  test(`${version}: what would move money and is not done here is refused`, async () => {
    const { refused, booked, order, close } = await opened(version);
    const change = await booked({});
    const spend = await refused("update_media_buy", change({ min_spend_target: 500 }));
    assert.equal([spend.code, spend.field], ["UNSUPPORTED_FEATURE", "packages[0].min_spend_target"]);
    const audience_evidence_pins = [
      { evidence_id: "e", snapshot_id: "s", version: "1", content_digest: `sha256:${"a".repeat(64)}` },
    ];
    const pins = await refused("create_media_buy", order({ audience_evidence_pins }));
    assert.equal([pins.code, pins.field], ["UNSUPPORTED_FEATURE", "packages[0].audience_evidence_pins"]);
    await close();
  });
}

test.run();
