/** Agents of which nothing is known but that somebody named them, or that they claimed something: anybody may make any number. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wait } from "../../runtime/db/index.js";
import type { Database } from "../../runtime/db/types.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { createRegistry } from "../../runtime/registry/server/app.js";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { removeUnnamedAgents } from "../../runtime/store/registry-unnamed.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { crawl, entry, NOW, SELLER } from "./data-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());
const folder = mkdtempSync(path.join(tmpdir(), "adbind-unnamed-"));
test.after(() => rmSync(folder, { recursive: true }));

const NEWS = "news.example";
const claimedBy = (url: string) => ({ publisherDomain: NEWS, agent: entry(url) });
const CLAIMED = ["https://claimed-0.example/mcp", "https://claimed-1.example/mcp"];
const sells = { name: null, type: "sales", deliveryTypes: [], formatKinds: [], hasTmp: false } as const;
const ALL = { after: 0, limit: 1_000 };

const agentsIn = async (database: Database): Promise<string[]> =>
  (await database.query((q) => q.rows<{ url: string }>("select url from adbind_registry_agents order by url"))).map(
    ({ url }) => url,
  );
const removed = (database: Database): Promise<number> => database.write((q) => removeUnnamedAgents(q, ALL));

const engines: Readonly<Record<string, () => Promise<SqliteStore | PostgresStore>>> = {
  SQLite: async () => openSqliteStore({ path: path.join(folder, `${Date.now()}.db`) }),
  PostgreSQL: async () => openPostgresStore({ url: await postgres.database(), connections: 5 }),
};

for (const [name, open] of Object.entries(engines))
  test(`${name}: an agent that only claims named goes with the last of them, and one of which more is known stays`, async () => {
    const store = await open();
    const { database } = store;
    const data = createRegistryData(store, { now: () => NOW });
    await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)] }));
    await data.putMember({
      ...{ slug: "shown", organization: null, displayName: "Shown", tier: null, founding: false, isPublic: true },
      ...{ domains: [], agents: [{ ...sells, url: "https://member.example/mcp", visibility: "private" }] },
    });
    await data.putClaims("https://itself.example/mcp", [{ publisherDomain: NEWS, authorizedFor: "All" }]);
    await data.applyCrawl(crawl("liar.example", { others: CLAIMED.map(claimedBy) }));
    const stays = ["https://member.example/mcp", SELLER];
    assert.is(await removed(database), 0);
    await data.applyCrawl(crawl("liar.example", { others: [claimedBy(CLAIMED[1]!)] }));
    assert.equal([await removed(database), (await agentsIn(database)).length], [1, 4]);
    await data.applyCrawl(crawl("liar.example", {}));
    await data.putClaims("https://itself.example/mcp", []);
    assert.equal([await removed(database), await agentsIn(database)], [2, stays]);
    // Whom a file named once is in the feed, as let go.
    await data.applyCrawl(crawl(NEWS, { agents: [] }));
    assert.equal([await removed(database), await agentsIn(database)], [0, stays]);
    await data.applyCrawl(crawl("liar.example", { others: CLAIMED.map(claimedBy) }));
    assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 2);
    await store.close();
  });

for (const [name, open] of Object.entries(engines))
  test(`${name}: an agent that the feed tells of stays, whether or not it ever had a profile`, async () => {
    const store = await open();
    const { database } = store;
    const data = createRegistryData(store, { now: () => NOW });
    const member = (agents: readonly string[]) =>
      data.putMember({
        ...{ slug: "hides", organization: null, displayName: "Hides", tier: null, founding: false, isPublic: true },
        domains: [],
        agents: agents.map((url) => ({ ...sells, url, visibility: "private" })),
      });
    // Whom a member does not show has no profile, and publishers say what they say.
    await member([SELLER]);
    await data.applyCrawl(crawl(NEWS, { agents: [entry(SELLER)] }));
    const first = await data.feed({ limit: 100 });
    assert.ok(first.ok);
    await data.applyCrawl(crawl(NEWS, { agents: [] }));
    await member([]);
    assert.equal([await removed(database), await agentsIn(database)], [0, [SELLER]]);
    // Who made it away would have had its number on SQLite.
    await data.putClaims(CLAIMED[0]!, [{ publisherDomain: NEWS, authorizedFor: "All" }]);
    const next = await data.feed({ cursor: first.value.cursor ?? undefined, limit: 100 });
    assert.ok(next.ok);
    const revoked = next.value.events.filter(({ event_type: type }) => type === "authorization.revoked");
    assert.equal(
      revoked.map(({ payload }) => payload.agent_url),
      [SELLER],
    );
    await store.close();
  });

test("an agent that somebody is about to name stays, whoever named it before", async () => {
  const store = (await engines.PostgreSQL!()) as PostgresStore;
  const { database } = store;
  const data = createRegistryData(store, { now: () => NOW });
  const [claimed] = CLAIMED as [string];
  await data.putClaims(claimed, [{ publisherDomain: NEWS, authorizedFor: "All" }]);
  await data.applyCrawl(crawl(NEWS, {}));
  await data.putClaims(claimed, []);
  await data.applyCrawl(crawl("liar.example", { agents: [entry(SELLER)] }));
  const { promise: held, resolve: unlock } = Promise.withResolvers<void>();
  const rows = async (state: string): Promise<number> =>
    (
      await database.query((q) =>
        q.rows(`select 1 as one from pg_stat_activity where datname = current_database() and ${state}`),
      )
    ).length;
  const holding = database.write(function* (q) {
    yield* q.rows("select id from adbind_registry_agents where url = ? for update", [SELLER]);
    yield* wait(held);
  });
  await until(async () => (await rows("state = 'idle in transaction'")) > 0);
  // It has its number by then, and waits with what it has written.
  const file = { agents: [entry(SELLER, { authorizedFor: "More" })], others: [claimedBy(claimed)] };
  const naming = data.applyCrawl(crawl("liar.example", file));
  await until(async () => (await rows("wait_event_type = 'Lock'")) > 0);
  assert.is(await removed(database), 0);
  unlock();
  await Promise.all([holding, naming]);
  assert.equal([await removed(database), await agentsIn(database)], [0, [claimed, SELLER]]);
  assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 1);
  await store.close();
});

test("a registry that crawls removes by itself agents that nobody names any more", async () => {
  const store = await engines.SQLite!();
  const data = createRegistryData(store, { now: () => NOW });
  await data.putClaims(CLAIMED[0]!, [{ publisherDomain: NEWS, authorizedFor: "All" }]);
  await data.putClaims(CLAIMED[0]!, []);
  assert.equal(await agentsIn(store.database), [CLAIMED[0]]);
  const options = { baseUrl: "https://registry.example", embeddedIssuer: false, probing: false } as const;
  const registry = await createRegistry({ ...options, store, logger: pino({ level: "silent" }), now: () => NOW });
  await registry.listen({ port: 0 });
  await until(async () => (await agentsIn(store.database)).length === 0);
  await registry.stop();
  await store.close();
});

test.run();
