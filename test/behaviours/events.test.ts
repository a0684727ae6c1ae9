/** What buyers send of their own: conversions, by their sources, and items of catalogues. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

for (const version of versions) {
  test(`${version}: an event source keeps what it was said to be, and takes money in its own currencies alone`, async () => {
    const taken: JsonObject[] = [];
    const events = { take: async (some: readonly JsonObject[]) => void taken.push(...some) };
    const { ask, close } = await behavingSeller(version, [], { with: ["events"], ports: { events } });
    const source = {
      ...{ event_source_id: "shop", name: "Shop", event_types: ["purchase", "page_view"] },
      ...{ value_currencies: ["USD", "EUR"], action_source: "app" },
    };
    await ask("sync_event_sources", { ...key(), account, event_sources: [source] });
    const [found] = (await ask("sync_event_sources", { ...key(), account })).event_sources;
    assert.is(found.action_source, "app");
    if (version.startsWith("3.2.4")) assert.equal(found.value_currencies, source.value_currencies);
    const purchase = (event_id: string, custom_data: object | undefined, event_type = "purchase") => ({
      ...{ event_id, event_type, event_time: "2026-03-01T00:00:00Z", action_source: "app" },
      ...(custom_data !== undefined && { custom_data }),
    });
    const logged = await ask("log_event", {
      ...{ ...key(), event_source_id: "shop" },
      events: [
        purchase("dollars", { value: 10, currency: "USD" }),
        purchase("crowns", { value: 10, currency: "SEK" }),
        purchase("unsaid", { value: 10 }),
        purchase("priced", { contents: [{ id: "boots", price: 10 }] }),
        purchase("seen", { contents: [{ id: "boots" }] }, "page_view"),
      ],
    });
    const { partial_failures: failures } = logged;
    assert.equal(
      failures.map(({ event_id }: JsonObject) => event_id),
      ["crowns", "unsaid", "priced"],
    );
    assert.equal(
      taken.map(({ event_id }) => event_id),
      ["dollars", "seen"],
    );
    await close();
  });

  test(`${version}: an item that cannot be taken off the air alone is refused, and no list of catalogues`, async () => {
    const { ask, refused, close } = await behavingSeller(version, [], { with: ["catalogs"] });
    const catalogs = [{ catalog_id: "shoes", type: "product", items: [{ item_id: "one", title: "One" }] }];
    const item = { catalog_id: "shoes", catalog_generation: "g1", item_id: "one" };
    const suppressed = { ...item, action: "suppress", expected_overlay_revision: 0, reason: "out_of_stock" };
    const switched =
      version === "3.2.4" ? [{ item_availability_updates: [suppressed] }, { item_availability_queries: [item] }] : [];
    for (const some of switched) {
      assert.is((await refused("sync_catalogs", { ...key(), account, ...some })).code, "UNSUPPORTED_FEATURE");
      assert.is((await refused("sync_catalogs", { ...key(), account, catalogs, ...some })).code, "UNSUPPORTED_FEATURE");
    }
    assert.equal((await ask("sync_catalogs", { ...key(), account })).catalogs, [], "nothing was changed");
    await close();
  });

  test(`${version}: a catalogue that is too long stops a strict sync, and fails alone in a lenient one`, async () => {
    const { ask, refused, close } = await behavingSeller(version, [], { with: ["catalogs"] });
    const catalog = (catalog_id: string, items: readonly object[]) => ({ catalog_id, type: "product", items });
    const long = Array.from({ length: 10_001 }, (_, at) => ({ item_id: `${at}`, title: "One" }));
    const sync = (...catalogs: readonly object[]) => ({ ...key(), account, catalogs });
    const [one, all] = [catalog("one", long.slice(0, 1)), catalog("all", long)];
    const strict = await refused("sync_catalogs", sync(one, all));
    assert.equal([strict.code, strict.field], ["INVALID_REQUEST", "catalogs[1].items"]);
    for (const validation_mode of ["strict", "lenient"])
      assert.is(
        (await refused("sync_catalogs", { ...sync(one, one), validation_mode })).field,
        "catalogs[1].catalog_id",
      );
    assert.equal((await ask("sync_catalogs", { ...key(), account })).catalogs, [], "nothing was changed");
    const { catalogs } = await ask("sync_catalogs", { ...sync(all, one), validation_mode: "lenient" });
    assert.equal(
      catalogs.map(({ action }: { readonly action: string }) => action),
      ["failed", "created"],
    );
    await close();
  });

  test(`${version}: a flight is an item by where it goes, and what is wrong with a hotel is said of that hotel`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["catalogs"] });
    const [origin, destination] = [{ airport_code: "VIE" }, { airport_code: "AMS" }];
    const flight = { catalog_id: "f", type: "flight", items: [{ flight_id: "os1", origin, destination }] };
    const price = { amount: -1, currency: "EUR" };
    const hotel = { catalog_id: "h", type: "hotel", items: [{ hotel_id: "sacher", name: "Sacher", price }] };
    const { catalogs } = await ask("sync_catalogs", { ...key(), account, catalogs: [flight, hotel] });
    assert.equal([catalogs[0].items_approved, catalogs[1].items_rejected], [1, 1]);
    assert.is(catalogs[1].item_issues[0].item_id, "sacher");
    await close();
  });
}

test.run();
