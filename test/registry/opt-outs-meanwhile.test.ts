/** Owners who opt out while what others say of them is being written, on real PostgreSQL: there, writers wait for each other. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Coroutine } from "../../runtime/db/coroutine.js";
import { wait } from "../../runtime/db/index.js";
import type { Query } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { ensureAgents, lockAgents } from "../../runtime/store/registry-agents.js";
import { lockPublishers } from "../../runtime/store/registry-publishers.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { crawl, entry, NOW, SELLER } from "./data-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

/** Comes before the other one among those that are locked. */
const FIRST = "a-site.example";
const NEWS = "news.example";
const CLAIMING = "https://claims.example/mcp";
const both = [FIRST, NEWS];

const others = (domains: readonly string[]) =>
  domains.map((publisherDomain) => ({ publisherDomain, agent: entry(SELLER) }));

/** What says something of some publishers. */
const sayers: Readonly<Record<string, (data: RegistryData, domains: readonly string[]) => Promise<unknown>>> = {
  file: (data, domains) => data.applyCrawl(crawl("stranger.example", { others: others(domains) })),
  agent: (data, domains) =>
    data.putClaims(
      CLAIMING,
      domains.map((publisherDomain) => ({ publisherDomain, authorizedFor: "All" })),
    ),
};

const connections = "select 1 as one from pg_stat_activity where datname = current_database() and";
const waits = `${connections} wait_event_type = 'Lock'`;
const inTransaction = `${connections} state = 'idle in transaction'`;

for (const [name, say] of Object.entries(sayers))
  test(`of a domain that opts out while what others say of it (${name}) waits to be written, nothing is told`, async () => {
    const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
    const { database } = store;
    const data = createRegistryData(store, { now: () => NOW });
    const told = async (domain: string) => (await data.lookupPublisher(domain)).authorized_agents.length;
    await say(data, [FIRST]);
    const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
    const holding = database.write(function* (q) {
      yield* lockPublishers(q, [FIRST]);
      yield* wait(held);
    });
    await until(async () => (await database.query((q) => q.rows(inTransaction))).length > 0);
    const written = say(data, both);
    await until(async () => (await database.query((q) => q.rows(waits))).length > 0);
    let over = false;
    const out = data.optOut(NEWS).then(() => (over = true));
    await until(async () => over || (await database.query((q) => q.rows(waits))).length > 1);
    unlock();
    await Promise.all([holding, written, out]);
    assert.equal([await told(FIRST), await told(NEWS)], [1, 0]);
    assert.is((await data.stats()).authorizations_by_source.agent_claim, 1);
    // As it says again when the owner has thought better of it.
    await data.optIn(NEWS);
    await say(data, both);
    assert.equal([await told(FIRST), await told(NEWS)], [1, 1]);
    await store.close();
  });

/** Holds what each waits for once it has asked who wants nothing told. */
const holds: Readonly<Record<string, (q: Query) => Coroutine<unknown>>> = {
  file: (q) => ensureAgents(q, [SELLER]),
  agent: function* (q) {
    yield* lockAgents(q, [...(yield* ensureAgents(q, [CLAIMING])).values()]);
  },
};

for (const [name, say] of Object.entries(sayers))
  test(`of a domain that nobody knew before (${name} names it) nothing is told once its owner opts out`, async () => {
    const store = await openPostgresStore({ url: await postgres.database(), connections: 6 });
    const { database } = store;
    const data = createRegistryData(store, { now: () => NOW });
    if (name === "agent") await say(data, []);
    const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
    const holding = database.write(function* (q) {
      yield* holds[name]!(q);
      yield* wait(held);
    });
    const waiting = async () => (await database.query((q) => q.rows(waits))).length;
    await until(async () => (await database.query((q) => q.rows(inTransaction))).length > 0);
    const written = say(data, both);
    await until(async () => (await waiting()) > 0);
    let over = false;
    const out = data.optOut(NEWS).then(() => (over = true));
    await until(async () => over || (await waiting()) > 1);
    unlock();
    await Promise.all([holding, written, out]);
    const told = await Promise.all(both.map(async (domain) => (await data.lookupPublisher(domain)).authorized_agents));
    assert.equal(
      told.map(({ length }) => length),
      [1, 0],
    );
    await store.close();
  });

test("what is known of a domain stays where its owner opts in again while it is being ended", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)] }));
  await sayers.file!(data, [NEWS]);
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const holding = database.write(function* (q) {
    yield* lockPublishers(q, ["stranger.example"]);
    yield* wait(held);
  });
  await until(async () => (await database.query((q) => q.rows(inTransaction))).length > 0);
  // As a process does that goes on with what a killed one had begun.
  const ending = data.optOut(NEWS);
  await until(async () => (await database.query((q) => q.rows(waits))).length > 0);
  assert.is(await data.optIn(NEWS), true);
  unlock();
  const [ended] = await Promise.all([ending, holding]);
  const { adagents_valid, authorized_agents } = await data.lookupPublisher(NEWS);
  assert.equal([adagents_valid, authorized_agents.length, ended], [true, 2, []]);
  assert.equal([await data.optedOut(), await data.endOptedOut()], [[], []]);
  assert.equal([await data.optOut(NEWS), (await data.lookupPublisher(NEWS)).authorized_agents], [[NEWS], []]);
  await store.close();
});

test("a domain opts out while an agent that it authorizes takes back what it said of it, and both are done", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)] }));
  await data.putClaims(SELLER, [{ publisherDomain: NEWS, authorizedFor: "All" }]);
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const holding = database.write(function* (q) {
    yield* lockAgents(q, [...(yield* ensureAgents(q, [SELLER])).values()]);
    yield* wait(held);
  });
  const waiting = async () => (await database.query((q) => q.rows(waits))).length;
  await until(async () => (await database.query((q) => q.rows(inTransaction))).length > 0);
  const takenBack = data.putClaims(SELLER, []);
  await until(async () => (await waiting()) > 0);
  const out = data.optOut(NEWS);
  await until(async () => (await waiting()) > 1);
  unlock();
  assert.equal((await Promise.all([holding, takenBack, out])).at(-1), [NEWS]);
  assert.equal((await data.lookupPublisher(NEWS)).authorized_agents, []);
  assert.is((await data.stats()).authorizations_by_source.agent_claim ?? 0, 0);
  await store.close();
});

test("what others say of a domain is not waited for by its opt-out, which ends it once it is written", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)] }));
  for (const say of Object.values(sayers)) await say(data, [NEWS]);
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const holding = database.write(function* (q) {
    yield* q.rows("select 1 as one from adbind_registry_authorizations where claimant = ? for update", [CLAIMING]);
    yield* wait(held);
  });
  await until(async () => (await database.query((q) => q.rows(inTransaction))).length > 0);
  let over = false;
  const out = data.optOut(NEWS).then((ended) => {
    over = true;
    return ended;
  });
  // All else has ended by then: nothing of it waits for who writes.
  await until(async () => (await data.lookupPublisher(NEWS)).authorized_agents.length === 1);
  assert.is(over, false);
  unlock();
  await holding;
  assert.equal(await out, [NEWS]);
  assert.equal((await data.lookupPublisher(NEWS)).authorized_agents, []);
  assert.is((await data.stats()).authorizations_by_source.agent_claim ?? 0, 0);
  await store.close();
});

test.run();
