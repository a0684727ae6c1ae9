/** Publishers that nobody names any more, while somebody is about to name them again, on real PostgreSQL: there, writers wait for each other. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wait } from "../../runtime/db/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { lockPublishers } from "../../runtime/store/registry-publishers.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { crawl, entry, NOW, SELLER } from "./data-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const NEWS = "news.example";

test("a publisher that somebody else is about to name stays, and who names it no more waits for nobody", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  const say = (domain: string, named: readonly string[]) =>
    data.applyCrawl(
      crawl(domain, { others: named.map((publisherDomain) => ({ publisherDomain, agent: entry(SELLER) })) }),
    );
  await say("liar.example", [NEWS]);
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const holding = database.write(function* (q) {
    yield* lockPublishers(q, [NEWS]);
    yield* wait(held);
  });
  const waits = "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const named = say("stranger.example", [NEWS]);
  await until(async () => (await database.query((q) => q.rows(waits))).length > 0);
  await say("liar.example", []);
  unlock();
  await Promise.all([holding, named]);
  assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 1);
  // And the other way round: what is gone is made anew.
  await Promise.all([say("stranger.example", []), say("liar.example", [NEWS])]);
  assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 1);
  await say("liar.example", []);
  assert.is(await data.crawlState(NEWS), undefined);
  await store.close();
});

test("who makes a publisher and waits for another is not waited for by who holds that one", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const lock = (domains: readonly string[]) => database.write((q) => lockPublishers(q, domains));
  await lock([NEWS]);
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  let made = false;
  const making = database.write(function* (q) {
    yield* lockPublishers(q, ["a-site.example"]);
    made = true;
    yield* wait(held);
    yield* lockPublishers(q, [NEWS]);
  });
  await until(() => made);
  const both = lock(["a-site.example", NEWS]);
  const waits = "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await database.query((q) => q.rows(waits))).length > 0);
  goOn();
  await making;
  assert.is((await both).size, 2);
  await store.close();
});

test("an agent that nobody knew says something of a publisher while a file names both, and both are kept", async () => {
  const store = await openPostgresStore({ url: await postgres.database(), connections: 5 });
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  const NEW = "https://new.example/mcp";
  const say = (agents: readonly string[]) =>
    data.applyCrawl(
      crawl("liar.example", { others: agents.map((url) => ({ publisherDomain: NEWS, agent: entry(url) })) }),
    );
  await say([SELLER]);
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const holding = database.write(function* (q) {
    yield* q.rows("select 1 as one from adbind_registry_authorizations where claimant = 'liar.example' for update");
    yield* wait(held);
  });
  const connections = "select 1 as one from pg_stat_activity where datname = current_database() and";
  const count = async (state: string) => (await database.query((q) => q.rows(`${connections} ${state}`))).length;
  await until(async () => (await count("state = 'idle in transaction'")) > 0);
  // It holds the publishers, and has yet to make the agent.
  const named = say([NEW]);
  await until(async () => (await count("wait_event_type = 'Lock'")) > 0);
  const claimed = data.putClaims(NEW, [{ publisherDomain: NEWS, authorizedFor: "All" }]);
  await until(async () => (await count("wait_event_type = 'Lock'")) > 1);
  unlock();
  await Promise.all([holding, named, claimed]);
  assert.is((await data.stats()).authorizations_by_source.agent_claim, 2);
  await store.close();
});

test.run();
