/** A product may promise its reports by format, place or device: who asks for one by what is promised is not left without. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const sandbox = { ...account, sandbox: true };
const PRODUCT = "told_by_device";
const reporting_capabilities = {
  available_reporting_frequencies: ["daily"],
  ...{ expected_delay_minutes: 0, timezone: "UTC", supports_webhooks: false, date_range_support: "date_range" },
  available_metrics: ["impressions", "spend", "clicks"],
  ...{ supports_device_type_breakdown: true, supports_audience_breakdown: false },
};

for (const version of versions)
  test(`${version}: a breakdown that a product promises is answered, and one that it does not is left out`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"]);
    const command = async (scenario: string, params: object) => {
      const said = await seller.ask("comply_test_controller", { scenario, account: sandbox, params });
      assert.ok(said.success, JSON.stringify(said));
    };
    const option = { pricing_model: "cpm", currency: "USD", fixed_price: 10 };
    const fixture = { delivery_type: "non_guaranteed", channels: ["display"], reporting_capabilities };
    await command("seed_product", { product_id: PRODUCT, fixture });
    await command("seed_pricing_option", { product_id: PRODUCT, pricing_option_id: "cpm", fixture: option });
    const line = { product_id: PRODUCT, pricing_option_id: "cpm", budget: 500 };
    const { media_buy_id } = await seller.ask("create_media_buy", {
      ...{ ...key(), account: sandbox, brand, packages: [line] },
      ...{ start_time: "asap", end_time: "2099-02-01T00:00:00Z" },
    });
    const asked = async (reporting_dimensions?: object) => {
      const { media_buy_deliveries: all } = await seller.ask("get_media_buy_delivery", {
        ...{ account: sandbox, media_buy_ids: [media_buy_id] },
        ...(reporting_dimensions && { reporting_dimensions }),
      });
      return all[0].by_package[0];
    };
    const wanted = { device_type: { sort_by: "impressions" }, audience: {}, placement: {} };
    const before = await asked(wanted);
    assert.equal(before.by_device_type, []);
    assert.is(before.by_device_type_truncated, false, "nothing was delivered: no row is all there is");
    await command("simulate_delivery", { media_buy_id, impressions: 1000, clicks: 10 });
    const after = await asked(wanted);
    assert.is(after.impressions, 1000);
    assert.equal(after.by_device_type, []);
    assert.is(after.by_device_type_truncated, true, "there is more than is shown");
    for (const name of ["by_audience", "by_placement", "by_audience_truncated"]) assert.not(name in after, name);
    if (version === "3.2.4")
      assert.equal(
        [after.by_device_type_sorted_by, after.by_device_type_sort_direction],
        ["impressions", "desc"],
        "as it was asked for",
      );
    assert.not("by_device_type" in (await asked()), "nobody has asked");
    await seller.close();
  });

test.run();
