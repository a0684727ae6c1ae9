/** What stands near a place is found by it, and what has exposures enough by the money for them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue } from "../../runtime/behaviours/index.js";
import { behavingSeller, versions } from "./behaving-seller.js";
import { judgeFilters, product } from "./filtered-products.js";

const here = { lat: 48.2, lng: 16.37 };
const square = (low: number, high: number) => [
  ...[
    [low, low],
    [high, low],
    [high, high],
    [low, high],
    [low, low],
  ].map(([x, y]) => [16 + x!, 48 + y!]),
];
const standing = [
  product("anywhere", {}),
  product("aimed", { more: { overlay_support: { geo_proximity: { radius: true } } } }),
  product("screens", {
    coverage: {
      points: [
        { lat: 48.5, lng: 16.5 },
        { lat: 48.21, lng: 16.37 },
      ],
    },
  }),
  product("island", { coverage: { countries: ["US"], points: [{ lat: 21.3, lng: -157.8 }] } }),
];
const near = (...geo_proximity: readonly object[]) => ({ geo_proximity });
const within = (value: number, unit: string, place: object = here) => ({ ...place, radius: { value, unit } });
const area = (...coordinates: readonly object[]) => ({ geometry: { type: "Polygon", coordinates } });
const drive = { ...here, travel_time: { value: 10, unit: "min" }, transport_mode: "driving" };

for (const version of versions)
  test(`${version}: what stands somewhere is found near it, and what is everywhere where it can be held to the place`, async () => {
    const ports = { catalogue: listedCatalogue(standing) };
    const seller = await behavingSeller(version, ["sales_guaranteed"], { ports });
    // What a release asks of coverage alone needs no targeting, and where overlay_support has no word nobody has it.
    const far = version === "3.2.4" ? ["anywhere", "aimed"] : ["aimed"];
    const drawn = version === "3.2.4" ? far : [];
    await judgeFilters(version, seller, [
      [near(within(2, "km")), [...far, "screens"]],
      [near(within(1, "mi")), [...far, "screens"]],
      [near(within(900, "m")), far],
      [near(within(900, "m"), within(1, "km", { lat: 21.3, lng: -157.8 })), [...far, "island"]],
      [near(area(square(0.1, 0.6))), [...drawn, "screens"]],
      [near(area(square(0.1, 0.6), square(0.15, 0.55))), drawn],
    ]);
    const ask = (filters: object) => seller.refused("get_products", { buying_mode: "wholesale", filters });
    assert.is((await ask(near(drive))).code, "UNSUPPORTED_FEATURE", "nobody knows how far one gets");
    const odd = await ask(near({ geometry: { type: "Polygon", coordinates: [1, 2] } }));
    assert.equal([odd.code, odd.field], ["INVALID_REQUEST", "filters.geo_proximity[0].geometry.coordinates"]);
    await seller.close();
  });

const curve = (unit: string | undefined, ...points: readonly object[]) => ({
  forecast: {
    ...{ method: "modeled", currency: "USD", ...(unit !== undefined && { forecast_range_unit: unit }) },
    points,
  },
});
const point = (budget: number, metrics: object) => ({ budget, metrics });
const bought = [
  product("curve", {
    more: curve(
      undefined,
      point(1_000, { impressions: { low: 50, mid: 80, high: 100 } }),
      point(5_000, { impressions: { low: 50, mid: 80, high: 400 } }),
    ),
  }),
  product("daily", { more: curve("daily", point(1_000, { impressions: { mid: 10 } })) }),
  product("podcast", { more: curve("availability", { metrics: { downloads: { mid: 150 } } }) }),
  product("silent", { more: curve("availability", { metrics: { reach: { mid: 1 } } }) }),
];
const exposed = (min_exposures: number, max?: number, currency = "USD") => ({
  ...{ min_exposures },
  ...(max !== undefined && { budget_range: { max, currency } }),
});
const flight = { start_date: "2099-01-01", end_date: "2099-01-10" };

for (const version of versions)
  test(`${version}: exposures are those that the budget buys, and of a day's as many as there are days`, async () => {
    const ports = { catalogue: listedCatalogue(bought) };
    const seller = await behavingSeller(version, ["sales_guaranteed"], { ports });
    await judgeFilters(version, seller, [
      [exposed(300), ["curve", "daily", "silent"]],
      [exposed(150, 1_000), ["daily", "podcast", "silent"]],
      [{ ...exposed(90, 1_000), ...flight }, ["curve", "daily", "podcast", "silent"]],
      [{ ...exposed(101, 1_000), ...flight }, ["podcast", "silent"]],
      [exposed(150, 2_000), ["curve", "daily", "podcast", "silent"]],
      [exposed(300, 9_000), ["curve", "daily", "silent"]],
      [exposed(150, 1_000, "EUR"), ["curve", "daily", "podcast", "silent"]],
    ]);
    await seller.close();
  });

test.run();
