/** Writers that overtake each other on PostgreSQL: no reader misses a change, whichever ends first. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { wait } from "../../runtime/db/coroutine.js";
import { preparedCrawl } from "../../runtime/registry/crawl-apply.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { writePublishers } from "../../runtime/registry/publisher-write.js";
import { finish } from "../../runtime/registry/recompute.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { type AnyStore, openPostgresStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { crawl, type Engine, entry, NOW, postgresEngine, property } from "./data-fixture.js";

const test = suite<{ store: AnyStore; data: RegistryData; other: RegistryData; database: RegistryData }>(
  "changes that overtake each other",
);
let engine: Engine;

test.before(async () => {
  engine = await postgresEngine();
});
test.before.each(async (context) => {
  const options = { now: () => NOW, searchDiscovered: true };
  context.data = createRegistryData(await engine.open(), options);
  // Of its own, for transactions that stay open however slow the machine is.
  context.store = await openPostgresStore({ url: engine.url(), connections: 1, idleTimeoutMs: 60_000 });
  context.other = createRegistryData(await engine.again(), options);
  context.database = createRegistryData(await engine.again(), { ...options, search: "database" });
  await context.database.warm();
});
test.after(() => engine.stop());

const urlOf = (name: string): string => `https://${name}.example/mcp`;
const file = (name: string, agents: readonly string[], properties = 1) =>
  crawl(`${name}.example`, {
    agents: agents.map((one) => entry(urlOf(one))),
    properties: Array.from({ length: properties }, (_, at) => property(`${name}-${at}`)),
  });

/** Lets go of what a test that failed left. */
const unfinished: (() => void)[] = [];
test.after.each(() => {
  for (const end of unfinished.splice(0)) end();
});
test.after.each(({ store }) => store.close());

/** Writes as a crawl does, and does not end until it is let go: its number is taken, and others go past it. */
async function held({ database }: AnyStore, result: ReturnType<typeof file>) {
  const change = await preparedCrawl(database, result, NOW);
  const numbered = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const done = database.write(function* (q) {
    yield* finish(q, yield* writePublishers(q, [change]), NOW);
    numbered.resolve();
    yield* wait(ended.promise);
  });
  await Promise.race([numbered.promise, done]);
  unfinished.push(ended.resolve);
  return {
    async release(): Promise<void> {
      ended.resolve();
      await done;
    },
  };
}

/** A reader that goes on with its cursor, as those who keep a copy do. */
function reader(data: RegistryData) {
  let cursor: string | undefined;
  const seen: string[] = [];
  return {
    seen,
    async read(): Promise<void> {
      for (;;) {
        const page = await data.feed({ limit: 2, ...(cursor !== undefined && { cursor }) });
        assert.ok(page.ok);
        for (const { event_type, entity_id, payload } of page.value.events)
          if (event_type === "authorization.granted")
            seen.push(String((payload as { publisher_domain?: string }).publisher_domain ?? entity_id));
        cursor = page.value.cursor ?? cursor;
        if (!page.value.has_more) return;
      }
    },
  };
}

const found = async (data: RegistryData): Promise<string[]> => {
  const page = await data.search({}, { limit: 100 });
  assert.ok(page.ok);
  return page.value.results.map(({ agent_url }) => agent_url);
};

test("the feed tells a change that ended late to a reader who has read later ones", async ({ store, data, other }) => {
  const { seen, read } = reader(other);
  await data.applyCrawl(file("first", ["a"]));
  await read();
  const slow = await held(store, file("slow", ["s"]));
  await data.applyCrawl(file("fast", ["f"]));
  await data.applyCrawl(file("faster", ["g"]));
  await read();
  await slow.release();
  await data.applyCrawl(file("last", ["l"]));
  await read();
  assert.equal(
    [...seen].sort(),
    ["fast", "faster", "first", "last", "slow"].map((name) => `${name}.example`),
  );
});

test("a search sees what ends late when it does, with what was numbered after it, on every instance", async ({
  store,
  data,
  other,
  database,
}) => {
  await data.applyCrawl(file("first", ["a"]));
  assert.equal([await found(data), await found(other)], [[urlOf("a")], [urlOf("a")]]);
  const slow = await held(store, file("slow", ["s"], 5));
  await data.applyCrawl(file("fast", ["f"], 3));
  const before = [await found(data), await found(database)];
  await slow.release();
  assert.equal(before, [[urlOf("a")], [urlOf("a")]]);
  for (const one of [data, other, database]) assert.equal(await found(one), ["s", "f", "a"].map(urlOf));
});

test("a traversal that began while a change was under way has each agent once", async ({
  store,
  data,
  other,
  database,
}) => {
  const names = Array.from({ length: 9 }, (_, at) => `n${at}`);
  for (const [at, name] of names.entries()) await data.applyCrawl(file(name, [name], at + 1));
  const slow = await held(store, file("slow", ["n0"], 30));
  // Moves that can be seen, and one that cannot yet.
  await data.applyCrawl(file("fast", ["n1"], 20));
  const urls: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; ; pages += 1) {
    const page: Awaited<ReturnType<RegistryData["search"]>> = await [data, other, database][pages % 3]!.search(
      {},
      { limit: 2, ...(cursor !== undefined && { cursor }) },
    );
    assert.ok(page.ok);
    urls.push(...page.value.results.map(({ agent_url }) => agent_url));
    if (!page.value.has_more) break;
    cursor = page.value.cursor!;
    if (pages === 1) await slow.release();
    if (pages === 2) await data.applyCrawl(file("later", ["n2"], 40));
  }
  assert.equal([...urls].sort(), names.map(urlOf).sort());
});

test("writers of different publishers and agents do not wait for each other; of the same agent they do", async ({
  store,
  data,
}) => {
  const watcher = await engine.again();
  await data.applyCrawl(file("first", ["a"]));
  const slow = await held(store, file("slow", ["s"]));
  // It would wait for ever on one row that all write.
  await data.applyCrawl(file("fast", ["f"]));
  let ended = false;
  const same = data.applyCrawl(file("same", ["s"])).finally(() => (ended = true));
  const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const waiting = (): Promise<boolean> => watcher.database.query((q) => q.rows(waits)).then(({ length }) => length > 0);
  await until(async () => ended || (await waiting()), "the second waits for the first");
  assert.not(ended);
  await slow.release();
  await same;
  const page = await data.search({}, { limit: 10 });
  assert.ok(page.ok);
  const profile = page.value.results.find(({ agent_url }) => agent_url === urlOf("s"));
  assert.equal([profile?.publisher_count, profile?.property_count], [2, 2]);
});

test("what a caller keeps is made anew while a change is under way", async ({ store, data }) => {
  await data.applyCrawl(file("first", ["a"]));
  assert.is(await data.revision(), await data.revision());
  const slow = await held(store, file("slow", ["s"]));
  const before = await data.revision();
  await data.applyCrawl(file("fast", ["f"]));
  const between = await data.revision();
  assert.is.not(before, between);
  await slow.release();
  assert.is.not(await data.revision(), between);
  assert.is(await data.revision(), await data.revision());
});

test("many writers at once: every change is in the feed once it can be seen, and the counts are right", async ({
  data,
  other,
}) => {
  const { seen, read } = reader(other);
  const names = Array.from({ length: 40 }, (_, at) => `p${at}`);
  const writing = Promise.all(
    names.map((name, at) => (at % 2 === 0 ? data : other).applyCrawl(file(name, [`x${at % 5}`, `y${at}`]))),
  );
  for (let writes = true; writes; ) {
    const ended = writing.then(() => true);
    await read();
    writes = !(await Promise.race([ended, new Promise((resolve) => setImmediate(resolve, false))]));
  }
  await writing;
  await read();
  const told = new Map<string, number>();
  for (const domain of seen) told.set(domain, (told.get(domain) ?? 0) + 1);
  assert.equal([...told.keys()].sort(), names.map((name) => `${name}.example`).sort());
  assert.ok(
    [...told.values()].every((times) => times === 2),
    "each of the two agents of a publisher once",
  );
  const { discovered_agents, discovered_publishers, authorizations } = await data.stats();
  assert.equal([discovered_agents, discovered_publishers, authorizations], [45, 40, 80]);
  const { authorizations_by_source, properties_by_type } = await data.stats();
  await data.forgetGone();
  const after = await data.stats();
  assert.equal(
    [after.authorizations_by_source, after.properties_by_type],
    [authorizations_by_source, properties_by_type],
  );
});

test.run();
