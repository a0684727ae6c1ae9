/** Owners who opt out while what others say of them is being written, on real PostgreSQL: there, writers wait for each other. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wait } from "../../runtime/db/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { RegistryData } from "../../runtime/registry/types.js";
import { openPostgresStore } from "../../runtime/store/index.js";
import { lockPublishers } from "../../runtime/store/registry-publishers.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { crawl, entry, NOW, SELLER } from "./data-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

/** Comes before the other one among those that are locked. */
const FIRST = "a-site.example";
const NEWS = "news.example";
const both = [FIRST, NEWS];

const others = (domains: readonly string[]) =>
  domains.map((publisherDomain) => ({ publisherDomain, agent: entry(SELLER) }));

/** What says something of some publishers. */
const sayers: Readonly<Record<string, (data: RegistryData, domains: readonly string[]) => Promise<unknown>>> = {
  file: (data, domains) => data.applyCrawl(crawl("stranger.example", { others: others(domains) })),
  agent: (data, domains) =>
    data.putClaims(
      "https://claims.example/mcp",
      domains.map((publisherDomain) => ({ publisherDomain, authorizedFor: "All" })),
    ),
};

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
    const written = say(data, both);
    const waits =
      "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until(async () => (await database.query((q) => q.rows(waits))).length > 0);
    await data.optOut(NEWS);
    unlock();
    await holding;
    await written;
    assert.equal([await told(FIRST), await told(NEWS)], [1, 0]);
    assert.is((await data.stats()).authorizations_by_source.agent_claim, 1);
    // As it says again when the owner has thought better of it.
    await data.optIn(NEWS);
    await say(data, both);
    assert.equal([await told(FIRST), await told(NEWS)], [1, 1]);
    await store.close();
  });

test.run();
