/** A clock that was ahead and is set back: what was to last a minute lasts no hour, on real SQLite and real PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rateCounter } from "../../runtime/registry/server/limits.js";
import { openPostgresStore, openSqliteStore, registryAccess } from "../../runtime/store/index.js";
import { takeTurn } from "../../runtime/store/registry-crawl.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { file, property, whole } from "./crawl-fixture.js";
import { by, crawlCases, HOUR_MS, MINUTE_MS, queued, refusedOf, type World } from "./crawl-world.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-set-back-"));
const cluster = await sharedPostgres();
let count = 0;
test.after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Callers who asked with the clock ahead have their windows anew; who differs by a window at most has the same one. */
async function limits({ store, clock }: World): Promise<void> {
  for (const shared of [true, false]) {
    const counted = rateCounter(registryAccess(store.database), shared);
    const asked = async (at: number) => (await counted(`caller ${shared}`, at, MINUTE_MS)).count;
    assert.equal([await asked(clock.at + HOUR_MS), await asked(clock.at + HOUR_MS)], [1, 2]);
    assert.equal([await asked(clock.at), await asked(clock.at - MINUTE_MS / 2), await asked(clock.at)], [1, 2, 3]);
    assert.is(await asked(clock.at + MINUTE_MS), 1, "a window ends as it did");
  }
}

/** What one instance does for all is not left undone until the clock is where it was. */
async function turns({ store, clock }: World): Promise<void> {
  const taken = async (owner: string, now: number) =>
    (await store.database.write((q) => takeTurn(q, "upkeep", { owner, now, until: now + MINUTE_MS }))) !== undefined;
  assert.is(await taken("killed", clock.at + HOUR_MS), true);
  assert.is(await taken("started", clock.at), true);
  assert.is(await taken("other", clock.at), false);
  assert.is(await taken("other", clock.at - MINUTE_MS / 2), false, "clocks of instances may differ");
}

/** A domain that was asked for is not put off until then. */
async function asked({ origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const one = await crawler();
  clock.at += HOUR_MS;
  const first = queued(await one.request("news.example", by("a")));
  one.start();
  await ended(one, first.crawl_request_id);
  assert.is(refusedOf(await one.request("news.example", by("a"))), "debounced");
  clock.at -= HOUR_MS;
  const second = queued(await one.request("news.example", by("a")));
  assert.is.not(second.crawl_request_id, first.crawl_request_id);
}

/** A domain that was crawled with the clock far ahead is crawled again in this time, and not in that. */
async function putOff({ origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const one = await crawler();
  clock.at += 365 * 24 * HOUR_MS;
  const first = queued(await one.request("news.example", by("a")));
  one.start();
  await ended(one, first.crawl_request_id);
  await one.stop();
  clock.at -= 365 * 24 * HOUR_MS;
  (await crawler()).start();
  await until(() => origins.times("news.example/adagents.json") === 2, "it is crawled again");
}

/** A location that changed while the clock was ahead is followed a day after it was set back, not a day after then. */
async function pointed({ origins, clock, crawler, data, ended }: World): Promise<void> {
  const crawl = async (): Promise<string | undefined> => {
    const one = await crawler();
    one.start();
    await ended(one, queued(await one.request("news.example", by("a"))).crawl_request_id);
    await one.stop();
    return (await data.lookupPublisher("news.example")).authorized_agents[0]?.url;
  };
  for (const place of ["one", "two"])
    origins.answers.set(`${place}.example/f.json`, {
      authorized_agents: [whole("news.example", `https://${place}.example/mcp`)],
      properties: [property()],
    });
  const point = (place: string) =>
    origins.answers.set("news.example/adagents.json", { authoritative_location: `https://${place}.example/f.json` });
  point("one");
  assert.is(await crawl(), "https://one.example/mcp");
  point("two");
  clock.at += 72 * HOUR_MS;
  assert.is(await crawl(), "https://one.example/mcp", "a changed location waits");
  clock.at -= 72 * HOUR_MS - HOUR_MS;
  assert.is(await crawl(), "https://one.example/mcp", "it waits from now on");
  clock.at += 24 * HOUR_MS;
  assert.is(await crawl(), "https://two.example/mcp");
}

const cases: readonly [what: string, run: (world: World) => Promise<void>][] = [
  ["callers are not limited for as long as the clock was ahead", limits],
  ["a turn that was taken by a clock ahead is free", turns],
  ["a domain that was crawled by a clock ahead is crawled again by itself", putOff],
  ["a location that was first seen by a clock ahead waits for a day, not until then", pointed],
  ["a domain that was asked for by a clock ahead is crawled when it is asked for", asked],
];
crawlCases(test, "sqlite", async () => openSqliteStore({ path: path.join(folder, `${++count}.db`) }), cases);
crawlCases(test, "postgres", async () => openPostgresStore({ url: await cluster.database() }), cases);

test.run();
