/** How often a crawl enters its database, on real SQLite and real PostgreSQL, and what is there when it ends half-way. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/open.js";
import type { Ack } from "../../runtime/queue/types.js";
import { type AttemptDependencies, crawlAttempts } from "../../runtime/registry/crawl/attempts.js";
import { crawlMetrics } from "../../runtime/registry/crawl/metrics.js";
import { checkedCrawlLimits } from "../../runtime/registry/crawl/settings.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { file } from "./crawl-fixture.js";
import { by, crawlCases, queued, type World } from "./crawl-world.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-crawl-"));
let cluster: TestDatabases;
let count = 0;

test.before(async () => {
  cluster = await sharedPostgres();
});
test.after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const domains = ["a.example", "b.example", "c.example", "d.example"];
const revocation = { publisher_domain: "other.example", revoked_at: "2026-03-01T00:00:00Z", reason: "other" };

/** Counts the transactions and the reads that the database is asked for from now on. */
function countEntries(database: World["store"]["database"]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of ["write", "read", "query", "execute"] as const) {
    const was = database[name].bind(database) as (...given: unknown[]) => unknown;
    const value = (...given: unknown[]): unknown => {
      counts[name] = (counts[name] ?? 0) + 1;
      return was(...given);
    };
    Object.defineProperty(database, name, { value, configurable: true });
  }
  return counts;
}

/** Takes up what is queued as a worker does, but acknowledges nothing. */
async function attempted({ store, data, origins, clock }: World, more: Partial<AttemptDependencies> = {}) {
  const now = () => clock.at;
  const { fetch } = origins;
  const publicUrl = "https://registry.example";
  const attempts = crawlAttempts({
    ...{ store: store.database, data, now, random: () => 0.5, log: undefined },
    ...{ limits: checkedCrawlLimits({ store, data }), metrics: crawlMetrics(), robots: async () => true },
    origin: { fetch, publicUrl, hostedFile: async () => undefined },
    ...more,
  });
  const open = () => openQueue(store.database, "registry-crawl", { now });
  const queue = open();
  const jobs = await queue.take({ now: clock.at, limit: 10, room: () => 10 });
  // What a queue looks at beside its jobs is none of a crawl's.
  await queue.close();
  const entries = countEntries(store.database);
  const acks = await Promise.all(
    jobs.map(async (job): Promise<Ack> => ({ job, outcome: (await attempts.handle(job)).outcome })),
  );
  const entered = { ...entries };
  return { acks, entered, acknowledge: () => open().ack(acks, clock.at, attempts.effect) };
}

async function requested({ crawler }: World): Promise<string[]> {
  const one = await crawler();
  const answers = await Promise.all(domains.map((domain) => one.request(domain, by("a"))));
  await one.stop();
  return answers.map((answer) => queued(answer).crawl_request_id);
}

async function counted(world: World): Promise<void> {
  const { data, origins, crawler } = world;
  for (const domain of domains)
    origins.answers.set(`${domain}/adagents.json`, file({ revoked_publisher_domains: [revocation] }));
  const ids = await requested(world);
  const { acks, entered, acknowledge } = await attempted(world);
  assert.is(acks.length, domains.length);
  // Nothing is read beside them; leasing and acknowledging are one each for all of them.
  assert.equal(entered, { write: 2 * domains.length });
  for (const domain of domains) assert.is((await data.crawlState(domain))?.valid, true, domain);
  await acknowledge();
  const one = await crawler();
  for (const id of ids) assert.is((await one.read(id))?.status, "completed");
}

async function halfWay(world: World): Promise<void> {
  const { store, data, origins } = world;
  for (const domain of domains)
    origins.answers.set(`${domain}/adagents.json`, file({ revoked_publisher_domains: [revocation] }));
  await requested(world);
  const rows = (table: string) => store.database.query((q) => q.rows(`select * from ${table}`));
  const cut: AttemptDependencies["data"] = {
    applyCrawl: (result, along) =>
      data.applyCrawl(result, function* (q) {
        yield* along!(q);
        throw new Error("the database went away");
      }),
  };
  const { acks } = await attempted(world, { data: cut });
  assert.equal(
    acks.map(({ outcome }) => outcome.kind),
    domains.map(() => "later"),
  );
  for (const table of ["adbind_crawl_files", "adbind_crawl_revocations", "adbind_registry_publishers"])
    assert.equal(await rows(table), [], table);
}

const cases = [
  ["a crawled file takes two transactions of its own", counted],
  ["a crawl that ends while it is kept leaves nothing of its file behind", halfWay],
] as const;
crawlCases(test, "sqlite", async () => openSqliteStore({ path: path.join(folder, `${++count}.db`) }), cases);
crawlCases(test, "postgres", async () => openPostgresStore({ url: await cluster.database() }), cases);

test.run();
