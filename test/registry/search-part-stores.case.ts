/** Parts of a search's index that follow another database than their siblings: no answer mixes two registries. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { PartEvent } from "../../runtime/registry/search-types.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { agent, crawl, type Engine, entry, member, property } from "./data-fixture.js";
import { type Parts, startParts, TOKEN } from "./search-parts.js";

const AGENTS = 12;
const urlsOf = (name: string): string[] =>
  Array.from({ length: AGENTS }, (_, at) => `https://${name}-${at}.example/mcp`);

async function filled(store: AnyStore, name: string): Promise<AnyStore> {
  const data = createRegistryData(store);
  const urls = urlsOf(name);
  await data.putMember(member("all", { agents: urls.map((url) => agent(url)) }));
  await data.applyCrawl(
    crawl(`${name}.example`, { properties: [property("p")], agents: urls.map((url) => entry(url)) }),
  );
  return store;
}

export function partStoresCase(engine: Engine): void {
  const test = suite<{ own: Parts; others: Parts; store: AnyStore }>(`parts of two registries, ${engine.name}`);
  test.before(async (context) => {
    const another = await filled(await engine.open(), "theirs");
    context.others = await startParts(another, 2);
    context.store = await filled(await engine.open(), "ours");
    // By connections of their own, as another process has them.
    context.own = await startParts(await engine.again(), 2);
  });
  test.after(async ({ own, others }) => {
    await own.stop();
    await others.stop();
    await engine.stop();
  });

  test("a part that follows another database is named in answers, and none of its agents is told", async ({
    own,
    others,
    store,
  }) => {
    const events: PartEvent[] = [];
    const urls = [own.urls[0]!, others.urls[1]!];
    const onAnswer = (event: PartEvent): void => void events.push(event);
    const mixed = createRegistryData(store, { searchParts: { urls, token: TOKEN, onAnswer } });
    const page = await mixed.search({}, { limit: 50 });
    assert.ok(page.ok);
    const { results, missing_parts } = page.value;
    assert.equal(missing_parts, ["2/2"]);
    assert.ok(results.length > 0 && results.every(({ agent_url }) => agent_url.includes("ours")));
    assert.equal((await mixed.facets({})).missing_parts, ["2/2"]);
    assert.equal((await mixed.marketMap({}, { markets: 2 })).missing_parts, ["2/2"]);
    // What is logged and counted, and shown by /readyz.
    const told = events.find(({ part, changed }) => part === "2/2" && changed);
    assert.is(told?.why, "refused");
    assert.match(told?.detail ?? "", /follows another registry's database .* start the part with the ADBIND_STORE/);
    const [first, second] = (await mixed.searchParts())!;
    assert.is(first!.state, "ok");
    assert.match(second!.state, /^refused: this part follows another registry's database/);
  });

  test("parts of one database are one index, by whichever connection, and of another they answer nothing", async ({
    own,
    others,
    store,
  }) => {
    const whole = createRegistryData(store, { searchParts: own.searchParts });
    const page = await whole.search({}, { limit: 50 });
    assert.ok(page.ok && page.value.missing_parts === undefined);
    assert.equal(page.value.results.map(({ agent_url }) => agent_url).sort(), urlsOf("ours").sort());
    const astray = createRegistryData(store, { searchParts: others.searchParts });
    assert.equal(await astray.search({}, { limit: 1 }), { ok: false, reason: "parts_missing" });
  });

  test.run();
}
