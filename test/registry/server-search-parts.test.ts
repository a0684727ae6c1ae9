/** A search's index in four parts: what is answered while one of them is gone, late or something else, and what is when it is back. */
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { AgentSearchResult, RegistryData, SearchFilters } from "../../runtime/registry/types.js";
import type { AnyStore } from "../../runtime/store/index.js";
import { numbers } from "../support/random.js";
import { until } from "../support/until.js";
import { agent, crawl, entry, member, NOW, property, sqliteEngine } from "./data-fixture.js";
import { type Gate, gateOf, type Parts, startParts, TOKEN } from "./search-parts.js";
import { bearer, type Setup, setupRegistry } from "./server-fixture.js";

const AGENTS = 60;
const SEARCH = "/api/registry/agents/search";
const urlOf = (at: number): string => `https://agent-${at}.example/mcp`;

interface World {
  readonly store: AnyStore;
  /** With the index in one piece. */
  readonly whole: RegistryData;
  readonly parts: Parts;
  readonly gates: readonly Gate[];
  readonly split: RegistryData;
}

const engine = sqliteEngine();
const test = suite<World>("a search's index in parts");

const found = (at: number, count: number, tags: readonly string[] = []) =>
  crawl(`p${at}.example`, {
    properties: Array.from({ length: count }, (_, one) => property(`p${one}`, { tags: [...tags] })),
    agents: [entry(urlOf(at), { countries: at % 3 === 0 ? ["DE", "AT"] : ["FR"] })],
  });

/** Agents that share few of many labels: most counts are even, and no part's hundred are the hundred of all. */
async function fill(data: RegistryData): Promise<void> {
  const random = numbers(3);
  const agents = Array.from({ length: AGENTS }, (_, at) => agent(urlOf(at), { hasTmp: at % 5 === 0 }));
  await data.putMember(member("all", { agents }));
  for (let at = 0; at < AGENTS; at++) {
    const tags = Array.from({ length: 12 }, () => `tag-${Math.floor(240 * random() ** 1.5)}`);
    await data.applyCrawl(found(at, 1 + (at % 7), tags));
  }
}

const DEADLINE_MS = 3_000;
const searchOf = (gates: readonly Gate[], deadlineMs = DEADLINE_MS) => ({
  urls: gates.map(({ url }) => url),
  token: TOKEN,
  deadlineMs,
});

test.before(async (context) => {
  const store = await engine.open();
  const whole = createRegistryData(store, { now: () => NOW });
  await fill(whole);
  const parts = await startParts(store);
  const gates = await Promise.all(parts.urls.map(gateOf));
  const split = createRegistryData(store, { now: () => NOW, searchParts: searchOf(gates) });
  Object.assign(context, { store, whole, parts, gates, split });
});
test.after(async ({ gates, parts }) => {
  for (const gate of gates) gate.stop();
  await parts.stop();
  await engine.stop();
});
test.after.each(({ gates }) => {
  for (const gate of gates) gate.state = "open";
});

async function pageOf(data: RegistryData, filters: SearchFilters, limit: number, cursor?: string | null) {
  const page = await data.search(filters, { limit, ...(cursor != null && { cursor }) });
  assert.ok(page.ok, JSON.stringify(page));
  return page.value;
}

const names = ({ results }: AgentSearchResult): string[] => results.map(({ agent_url }) => agent_url);

const FILTERS: readonly SearchFilters[] = [
  {},
  { tags: ["tag-1", "tag-3"] },
  { markets: ["DE"], tags: ["tag-0"] },
  { has_tmp: true },
  { channels: ["ctv"] },
  { min_properties: 4 },
];

test("counts, the map and every page are those of an index in one piece", async ({ whole, split }) => {
  for (const filters of FILTERS) {
    assert.equal(await split.facets(filters), await whole.facets(filters), JSON.stringify(filters));
    const map = { markets: 2 };
    assert.equal(await split.marketMap(filters, map), await whole.marketMap(filters, map), JSON.stringify(filters));
    for (let cursor: string | null = ""; cursor !== null; ) {
      const expected: AgentSearchResult = await pageOf(whole, filters, 7, cursor === "" ? null : cursor);
      assert.equal(await pageOf(split, filters, 7, cursor === "" ? null : cursor), expected);
      cursor = expected.cursor;
    }
  }
  const labels = (await whole.facets({})).values.tags;
  assert.is(labels.length, 100, "there are more labels than are told");
});

test("every part has some of the agents, and together they have all once", async ({ split }) => {
  const states = (await split.searchParts())!;
  assert.equal(
    states.map(({ part, state }) => [part, state]),
    ["1/4", "2/4", "3/4", "4/4"].map((part) => [part, "ok"]),
  );
  const held = states.map(({ agents }) => agents!);
  assert.is(
    held.reduce((sum, one) => sum + one),
    AGENTS,
  );
  assert.ok(Math.min(...held) >= 5, `evenly enough: ${held}`);
});

test("a traversal shows each agent once, whichever parts are gone on the way", async ({ split, whole, gates }) => {
  const all = names(await pageOf(whole, {}, 200)).sort();
  const run = fc.asyncProperty(
    fc.array(fc.subarray([0, 1, 2, 3], { maxLength: 3 }), { minLength: 2, maxLength: 8 }),
    fc.integer({ min: 3, max: 25 }),
    async (gone, limit) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let at = 0; ; at++) {
        const missing = gone[at] ?? [];
        gates.forEach((gate, index) => {
          gate.state = missing.includes(index) ? "gone" : "open";
        });
        const answer = await split.search({}, { limit, ...(cursor !== null && { cursor }) });
        if (!answer.ok) {
          // Only who is missing has more: the cursor is as good as before.
          assert.is(answer.reason, "parts_missing");
          assert.ok(missing.length > 0);
          continue;
        }
        const page: AgentSearchResult = answer.value;
        assert.equal(page.missing_parts ?? [], missing.map((one) => `${one + 1}/4`).sort());
        seen.push(...names(page));
        assert.is(page.has_more, page.cursor !== null);
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      assert.equal([...seen].sort(), all);
    },
  );
  await fc.assert(run, { numRuns: 25, endOnFailure: false });
});

test("a page without a part is sorted, and the page after its return begins with what it had not shown", async ({
  split,
  whole,
  gates,
}) => {
  const order = names(await pageOf(whole, {}, 200));
  gates[1]!.state = "gone";
  const first = await pageOf(split, {}, 10);
  const shown = names(first);
  const skipped = order.slice(0, order.indexOf(shown.at(-1)!)).filter((url) => !shown.includes(url));
  assert.ok(skipped.length > 0);
  assert.equal(
    shown,
    order.filter((url) => shown.includes(url)),
  );
  gates[1]!.state = "open";
  const second = names(await pageOf(split, {}, 10, first.cursor));
  assert.equal(second.slice(0, skipped.length), skipped.slice(0, 10));
});

test("a cursor that waits for a part is expired for an index in another number of parts", async ({
  split,
  whole,
  gates,
  parts,
}) => {
  gates[0]!.state = "gone";
  const { cursor } = await pageOf(split, {}, 5);
  const page = { limit: 5, cursor: cursor! };
  assert.equal(await whole.search({}, page), { ok: false, reason: "cursor_expired" });
  const searchParts = { urls: parts.urls.slice(0, 3), token: TOKEN };
  const fewer = createRegistryData(await engine.again(), { searchParts });
  assert.equal(await fewer.search({}, page), { ok: false, reason: "cursor_expired" });
});

test("counts without a part are those of the others, and say so", async ({ split, gates }) => {
  const states = (await split.searchParts())!;
  gates[2]!.state = "gone";
  const { total, missing_parts } = await split.facets({});
  assert.equal([total, missing_parts], [AGENTS - states[2]!.agents!, ["3/4"]]);
  assert.equal((await split.marketMap({}, { markets: 3 })).missing_parts, ["3/4"]);
});

test("a part that is silent is waited for as long as is said, and after three times by nobody", async ({
  store,
  gates,
}) => {
  const searchParts = searchOf(gates, 1_100);
  const hasty = createRegistryData(store, { now: () => NOW, searchParts });
  gates[3]!.state = "silent";
  for (let at = 0; at < 3; at++) {
    const began = performance.now();
    assert.equal((await pageOf(hasty, {}, 5)).missing_parts, ["4/4"]);
    assert.ok(performance.now() - began >= 1_000);
  }
  const before = gates[3]!.asked;
  for (let at = 0; at < 5; at++) assert.equal((await pageOf(hasty, {}, 5)).missing_parts, ["4/4"]);
  assert.is(gates[3]!.asked, before, "it is left in peace for a second");
  gates[3]!.state = "open";
  await until(async () => (await pageOf(hasty, {}, 5)).missing_parts === undefined, "it is asked again");
});

test("a part that was killed is back with what changed meanwhile", async ({ parts, split, whole }) => {
  await parts.end(2);
  const [one] = names(await pageOf(whole, {}, 1));
  await whole.applyCrawl(found(AGENTS - 1, 99));
  assert.equal((await pageOf(split, {}, 5)).missing_parts, ["2/4"]);
  await parts.begin(2);
  const page = await pageOf(split, {}, 5);
  assert.is(page.missing_parts, undefined);
  assert.equal(page, await pageOf(whole, {}, 5));
  assert.is.not(page.results[0]!.agent_url, one);
});

test("what an instance wrote is in its next search, and in that of every other", async ({ split, store, gates }) => {
  const other = createRegistryData(store, { now: () => NOW, searchParts: searchOf(gates) });
  for (let count = 100; count < 110; count++) {
    await split.applyCrawl(found(count % AGENTS, count));
    assert.equal(names(await pageOf(split, { min_properties: count }, 5)), [urlOf(count % AGENTS)]);
    assert.equal(await pageOf(other, {}, 3), await pageOf(split, {}, 3));
  }
});

async function served(world: World, use: (setup: Setup, ask: (url: string) => Promise<Answer>) => Promise<void>) {
  const store = world.store as Setup["store"];
  const setup = await setupRegistry({ store, searchParts: searchOf(world.gates), now: Date.now });
  const { id } = await setup.accounts.addOrganization({ name: "O" });
  const { key } = await setup.accounts.addKey(id, "k");
  try {
    await use(setup, (url) => setup.registry.app.inject({ url, headers: bearer(key) }));
  } finally {
    await setup.close();
  }
}
type Answer = Awaited<ReturnType<Setup["registry"]["app"]["inject"]>>;

test("a missing part is named in the API, on the pages, in the metrics, at /readyz and in the log", async (world) => {
  await served(world, async ({ registry, logs }, ask) => {
    const complete = await ask(SEARCH);
    assert.equal([complete.headers["missing-parts"], complete.json().missing_parts], [undefined, undefined]);
    world.gates[1]!.state = "gone";
    const answer = await ask(`${SEARCH}?limit=5`);
    assert.is(answer.statusCode, 200);
    assert.equal([answer.headers["missing-parts"], answer.json().missing_parts], ["2/4", ["2/4"]]);
    assert.is.not(answer.headers.etag, complete.headers.etag);
    for (const place of ["/agents", "/agents?search=1", "/map"])
      assert.match((await registry.app.inject(place)).body, "part 2/4 of the search index did not answer");
    assert.match(
      (await registry.app.inject("/metrics")).body,
      /registry_search_parts_missing_total\{part="2\/4",why="gone"\} [1-9]/,
    );
    const ready = await registry.app.inject("/readyz");
    assert.is(ready.statusCode, 200, "three parts are better than none");
    const states = ready.json().search_parts as { part: string; state: string; change: number | null }[];
    assert.match(states[1]!.state, "gone: ");
    assert.ok(states[0]!.change! > 0);
    world.gates[1]!.state = "open";
    await ask(SEARCH);
    const told = logs.map(({ msg }) => String(msg)).filter((one) => one.startsWith("a part of the search's index"));
    assert.equal(told, ["a part of the search's index does not answer", "a part of the search's index answers again"]);
  });
});

test("without any part a search is 503 with Retry-After, and the instance is not ready", async (world) => {
  await served(world, async ({ registry }, ask) => {
    for (const gate of world.gates) gate.state = "gone";
    const answer = await ask(SEARCH);
    assert.equal(
      [answer.statusCode, answer.json().code, answer.headers["retry-after"]],
      [503, "search_parts_missing", "5"],
    );
    const ready = await registry.app.inject("/readyz");
    assert.equal([ready.statusCode, ready.json().checks.search], [503, "no part of the index answers"]);
  });
});

test.run();
