/**
 * When a crawler takes what it found in place of what it keeps, on either database
 * (docs/protocol/files.md#what-a-crawl-does).
 */

import * as assert from "uvu/assert";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { agent, file, property } from "./crawl-fixture.js";
import { by, crawlCases, HOUR_MS, MINUTE_MS, queued, type Test, type World } from "./crawl-world.js";

const DAY_MS = 24 * HOUR_MS;
const ONE = "https://one.example/files/news.json";
const TWO = "https://two.example/files/news.json";
const SELLER = "https://agent.example/";
const THIEF = "https://thief.example/";

const iso = (ms: number): string => new Date(ms).toISOString();
const fileOf = (url: string, more: object = {}): object => file({ authorized_agents: [agent({ url })], ...more });

/** Crawls a domain to the end of its first attempt; says what became of the request, and who may sell then. */
async function crawled({ data, crawler, clock }: World, domain = "news.example") {
  const one = await crawler({ debounceMs: 0, recrawlMs: 400 * DAY_MS, retryMs: [MINUTE_MS] });
  const { crawl_request_id: id } = queued(await one.request(domain, { ...by("a"), requestedBy: `a${clock.at}` }));
  one.start();
  const over = async (): Promise<boolean> => {
    const record = await one.read(id);
    return record?.completed_at !== null || record.status === "retrying";
  };
  await until(over, `${domain} is crawled`);
  let record = await one.read(id);
  if (record?.status === "retrying") {
    clock.at += MINUTE_MS;
    await until(async () => (await one.read(id))?.completed_at !== null, "the last attempt ends");
    record = await one.read(id);
  }
  await one.stop();
  const found = await data.lookupPublisher(domain);
  return { status: record?.status, error: record?.error, agents: found.authorized_agents.map(({ url }) => url), found };
}

/** @param open an opened store on an empty database */
export const crawlRulesCase = (test: Test, name: string, open: () => Promise<SqliteStore | PostgresStore>): void =>
  crawlCases(test, name, open, [
    ["a location that was changed is followed when it has stayed for a day, and not before", moved],
    ["a location that changes back, or again, begins anew", wavering],
    ["an operator may accept a changed location at once, and a pointer to a file hosted here needs nobody", accepted],
    ["what an operator accepts while a crawl is under way stays accepted", acceptedMeanwhile],
    ["a file in place of a pointer counts at once, and so does a first pointer", unpointed],
    ["an older file than the one taken is refused, also where the location changed", older],
    ["a time ahead of ours does not shut out the file that mends it", ahead],
    ["what a file said ends seven days after it was last valid", stale],
    ["what was not asked for since does not end, and one that ended begins like a new one", kept],
    ["while its last file is kept a domain that fails is asked once a day at least", daily],
    ["an authorization that begins counts then, and not at the next crawl", dated],
    ["a file revokes nothing of another file that lies on the same host", neighbours],
  ]);

async function moved(world: World): Promise<void> {
  const { origins, clock, data } = world;
  origins.answers.set("news.example/adagents.json", { authoritative_location: ONE });
  origins.answers.set("one.example/files/news.json", fileOf(SELLER));
  origins.answers.set("two.example/files/news.json", fileOf(THIEF));
  assert.equal((await crawled(world)).agents, [SELLER]);
  origins.answers.set("news.example/adagents.json", { authoritative_location: TWO });
  const since = clock.at;
  const held = await crawled(world);
  assert.equal([held.status, held.agents, origins.times("two.example/files/news.json")], ["completed", [SELLER], 0]);
  assert.match(held.error!, `authoritative_location changed to ${TWO}`);
  assert.match(held.error!, iso(since + DAY_MS));
  assert.is((await data.crawlState("news.example"))?.problems[0]?.message, held.error, "the state says it too");
  assert.equal([held.found.adagents_valid, held.found.hosting.mode], [true, "self_redirected"]);
  clock.at = since + DAY_MS - 1;
  assert.equal((await crawled(world)).agents, [SELLER]);
  clock.at = since + DAY_MS;
  const after = await crawled(world);
  assert.equal([after.error, after.agents, after.found.hosting.resolved_url], [null, [THIEF], TWO]);
}

async function wavering(world: World): Promise<void> {
  const { origins, clock } = world;
  const point = (location: string) =>
    origins.answers.set("news.example/adagents.json", { authoritative_location: location });
  for (const [host, url] of [
    ["one", SELLER],
    ["two", THIEF],
    ["three", THIEF],
  ] as const)
    origins.answers.set(`${host}.example/files/news.json`, fileOf(url));
  for (const location of [ONE, TWO, ONE, TWO, "https://three.example/files/news.json"]) {
    point(location);
    assert.equal((await crawled(world)).agents, [SELLER], location);
    // That it points back counts, even when nothing is there.
    origins.answers.set("one.example/files/news.json", 503);
    clock.at += 20 * HOUR_MS;
  }
  assert.equal((await crawled(world)).agents, [SELLER]);
  clock.at += 4 * HOUR_MS;
  assert.equal((await crawled(world)).agents, [THIEF]);
}

async function accepted(world: World): Promise<void> {
  const { origins, data, crawler } = world;
  origins.answers.set("news.example/adagents.json", { authoritative_location: ONE });
  origins.answers.set("one.example/files/news.json", fileOf(SELLER, { last_updated: "2026-03-01T00:00:00Z" }));
  origins.answers.set("two.example/files/news.json", fileOf(THIEF, { last_updated: "2026-01-01T00:00:00Z" }));
  await crawled(world);
  const one = await crawler();
  assert.is(await one.accept("unknown.example"), false);
  origins.answers.set("news.example/adagents.json", { authoritative_location: TWO });
  assert.equal((await crawled(world)).agents, [SELLER]);
  assert.is(await one.accept("news.example"), true);
  assert.equal((await crawled(world)).agents, [THIEF]);

  const hosted = "https://registry.example/publisher/news.example/.well-known/adagents.json";
  const content = { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  const body = JSON.parse(JSON.stringify(fileOf(SELLER)));
  await data.putHostedFile("news.example", { file: body, content });
  origins.answers.set("news.example/adagents.json", { authoritative_location: hosted });
  const after = await crawled(world);
  assert.equal([after.error, after.agents], [null, [SELLER]]);
}

async function acceptedMeanwhile(world: World): Promise<void> {
  const { origins, crawler } = world;
  const one = await crawler();
  const pointTo = (location: string) => {
    const body = Buffer.from(JSON.stringify({ authoritative_location: location }));
    return { ok: true, status: 200, headers: {}, body, truncated: false, url: "https://news.example/x" } as const;
  };
  const serve = (at: string, url: string) =>
    origins.answers.set("one.example/files/news.json", fileOf(url, { last_updated: at }));
  origins.answers.set("news.example/adagents.json", async () => pointTo(ONE));
  serve("2026-03-01T00:00:00Z", SELLER);
  await crawled(world);
  origins.answers.set("news.example/adagents.json", async () => {
    assert.is(await one.accept("news.example"), true);
    return pointTo(TWO);
  });
  assert.match((await crawled(world)).error!, `authoritative_location changed to ${TWO}`);
  origins.answers.set("news.example/adagents.json", async () => pointTo(ONE));
  serve("2026-02-01T00:00:00Z", THIEF);
  assert.equal((await crawled(world)).agents, [THIEF], "an older file was accepted");
}

async function unpointed(world: World): Promise<void> {
  const { origins } = world;
  origins.answers.set("news.example/adagents.json", fileOf(SELLER, { last_updated: "2026-03-01T00:00:00Z" }));
  origins.answers.set("two.example/files/news.json", fileOf(THIEF, { last_updated: "2026-02-01T00:00:00Z" }));
  assert.equal((await crawled(world)).agents, [SELLER]);
  origins.answers.set("news.example/adagents.json", { authoritative_location: TWO });
  assert.equal((await crawled(world)).agents, [THIEF]);
  origins.answers.set("news.example/adagents.json", fileOf(SELLER, { last_updated: "2026-01-01T00:00:00Z" }));
  assert.equal((await crawled(world)).agents, [SELLER], "leaving a network is not held up");
}

async function older(world: World): Promise<void> {
  const { origins, clock, crawler } = world;
  const serve = (at: string, url: string) =>
    origins.answers.set("news.example/adagents.json", fileOf(url, { last_updated: at }));
  serve("2026-03-01T00:00:00Z", SELLER);
  await crawled(world);
  serve("2026-02-28T23:58:59Z", THIEF);
  const refused = await crawled(world);
  assert.equal([refused.status, refused.agents, refused.found.adagents_valid], ["failed", [SELLER], true]);
  assert.match(refused.error!, "2026-02-28T23:58:59.000Z) is earlier");
  serve("2026-02-28T23:59:00Z", THIEF);
  assert.equal((await crawled(world)).agents, [THIEF], "clocks of edges differ by a minute");
  serve("2026-02-28T23:58:59Z", SELLER);
  assert.equal((await crawled(world)).agents, [THIEF], "and do not add up");
  await (await crawler()).accept("news.example");
  assert.equal((await crawled(world)).agents, [SELLER]);

  origins.answers.set("pub.example/adagents.json", { authoritative_location: ONE });
  origins.answers.set("one.example/files/news.json", fileOf(SELLER, { last_updated: "2026-03-01T00:00:00Z" }));
  origins.answers.set("two.example/files/news.json", fileOf(THIEF, { last_updated: "2026-01-01T00:00:00Z" }));
  await crawled(world, "pub.example");
  origins.answers.set("pub.example/adagents.json", { authoritative_location: TWO });
  await crawled(world, "pub.example");
  clock.at += DAY_MS;
  const mixed = await crawled(world, "pub.example");
  assert.equal(mixed.agents, [SELLER]);
  assert.match(mixed.error!, "is earlier");
}

async function ahead(world: World): Promise<void> {
  const { origins, clock } = world;
  origins.answers.set("news.example/adagents.json", fileOf(THIEF, { last_updated: "2199-01-01T00:00:00Z" }));
  assert.equal((await crawled(world)).agents, [THIEF]);
  clock.at += HOUR_MS;
  origins.answers.set("news.example/adagents.json", fileOf(SELLER, { last_updated: iso(clock.at) }));
  assert.equal((await crawled(world)).agents, [SELLER]);
}

async function stale(world: World): Promise<void> {
  const { origins, clock, data, crawler } = world;
  const claims = [{ publisher_domain: "other.example", selection_type: "all" }];
  const other = agent({ authorization_type: "publisher_properties", publisher_properties: claims });
  const named = file({ authorized_agents: [agent(), other], properties: [property()] });
  origins.answers.set("down.example/adagents.json", named);
  origins.answers.set("broken.example/adagents.json", fileOf(SELLER));
  const since = clock.at;
  for (const domain of ["down.example", "broken.example"]) await crawled(world, domain);
  assert.is((await data.lookupPublisher("other.example")).authorized_agents.length, 1);
  origins.answers.set("down.example/adagents.json", 503);
  origins.answers.set("broken.example/adagents.json", { authorized_agents: 7 });
  clock.at += HOUR_MS;
  for (const domain of ["down.example", "broken.example"])
    assert.equal((await crawled(world, domain)).agents, [SELLER], "kept");
  const one = await crawler({ recrawlMs: 400 * DAY_MS });
  assert.equal(await data.endStale(since - 1, 10), []);
  clock.at = since + 7 * DAY_MS;
  one.start();
  const valid = async (domain: string) => (await data.lookupPublisher(domain)).adagents_valid;
  await until(async () => (await valid("down.example")) === null, "the one ends");
  await until(async () => (await valid("broken.example")) === false, "the other ends");
  for (const domain of ["down.example", "broken.example", "other.example"]) {
    const found = await data.lookupPublisher(domain);
    assert.equal([found.authorized_agents, found.properties], [[], []], domain);
  }
  assert.is((await data.lookupPublisher("down.example")).hosting.last_validated, iso(since));
  const state = await data.crawlState("broken.example");
  assert.match(state!.problems[0]!.message, "for seven days");
  assert.is(state!.problems.length, 2, "and what was wrong with it stays");
  const stats = await data.stats();
  assert.equal([stats.authorizations, stats.discovered_properties, stats.discovered_publishers], [0, 0, 0]);
}

async function kept(world: World): Promise<void> {
  const { origins, clock, data } = world;
  origins.answers.set("news.example/adagents.json", fileOf(SELLER, { last_updated: "2026-03-01T00:00:00Z" }));
  await crawled(world);
  clock.at += 8 * DAY_MS;
  assert.equal(await data.endStale(clock.at - 7 * DAY_MS, 10), [], "nobody asked since");
  origins.answers.set("news.example/adagents.json", 404);
  await crawled(world);
  // The crawler may have come to it before.
  await data.endStale(clock.at - 7 * DAY_MS, 10);
  const found = await data.lookupPublisher("news.example");
  assert.equal([found.adagents_valid, found.authorized_agents], [null, []]);
  assert.equal(await data.endStale(clock.at - 7 * DAY_MS, 10), []);
  origins.answers.set("news.example/adagents.json", fileOf(THIEF, { last_updated: "2026-01-01T00:00:00Z" }));
  assert.equal((await crawled(world)).agents, [THIEF], "nothing is left to be older than");
  assert.is((await crawled(world)).error, null, "and it is taken again");
}

async function daily({ origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", fileOf(SELLER));
  const one = await crawler({ retryMs: [1] });
  one.start();
  await ended(one, queued(await one.request("news.example", by("a"))).crawl_request_id);
  origins.answers.set("news.example/adagents.json", 404);
  const times = () => origins.times("news.example/adagents.json");
  for (const hours of [6, 6, 12, 24, 24, 24]) {
    const before = times();
    clock.at += hours * HOUR_MS;
    await until(() => times() === before + 1, `it is asked again after ${hours} h`);
    await until(async () => !(await one.pending("news.example")), "and that ends");
  }
}

async function dated(world: World): Promise<void> {
  const { origins, clock, data, crawler } = world;
  const from = clock.at + HOUR_MS;
  const entry = agent({ effective_from: iso(from) });
  origins.answers.set("news.example/adagents.json", file({ authorized_agents: [entry] }));
  await crawled(world);
  const before = await data.revision();
  const one = await crawler({ recrawlMs: 400 * DAY_MS });
  one.start();
  clock.at = from;
  await until(async () => (await data.revision()) !== before, "it is worked out again");
  assert.is(origins.times("news.example/adagents.json"), 1);
}

async function neighbours(world: World): Promise<void> {
  const { origins, clock } = world;
  // Whoever rents room on a host of files says nothing about what the other tenants keep there.
  const point = (domain: string, at: string) =>
    origins.answers.set(`${domain}/adagents.json`, { authoritative_location: `https://files.example/${at}` });
  point("news.example", "news/adagents.json");
  point("thief.example", "thief/adagents.json");
  origins.answers.set("files.example/news/adagents.json", fileOf(SELLER));
  const revoked_publisher_domains = [{ publisher_domain: "news.example", revoked_at: "2026-03-01T00:00:00Z" }];
  origins.answers.set("files.example/thief/adagents.json", fileOf(THIEF, { revoked_publisher_domains }));
  assert.equal((await crawled(world)).agents, [SELLER]);
  assert.equal((await crawled(world, "thief.example")).agents, [THIEF]);
  clock.at += HOUR_MS;
  assert.equal((await crawled(world)).agents, [SELLER]);
}
