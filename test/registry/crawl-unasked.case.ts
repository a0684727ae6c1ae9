/** What a crawler does unasked, on either database, with the registry's real data. */

import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { file } from "./crawl-fixture.js";
import { by, crawlCases, HOUR_MS, MINUTE_MS, queued, type Test, type World } from "./crawl-world.js";

const QUIET = "quiet.example";

/** @param open an opened store on an empty database */
export function crawlUnaskedCase(test: Test, name: string, open: () => Promise<SqliteStore | PostgresStore>): void {
  const cases: [string, (world: World) => Promise<void>][] = [
    ["domains are crawled again by themselves, by one instance; those without a file ever less often", recrawled],
    ["members' domains and imported publishers are taken up", adopted],
    ["origins of hosted files are asked whether they point here", hosted],
    ["an owner who opted out is left alone, whoever points to him", leftAlone],
    ["what is known of an owner who opted out ends, though the process that notes it is killed", killedOver],
  ];
  crawlCases(test, name, open, cases);
}

async function recrawled({ origins, clock, crawler, ended }: World): Promise<void> {
  origins.answers.set("news.example/adagents.json", file());
  const [one, two] = [await crawler(), await crawler()];
  one.start();
  two.start();
  origins.answers.set("early.example/adagents.json", file());
  const crawled = async (domain: string) => ended(one, queued(await one.request(domain, by("a"))).crawl_request_id);
  await crawled("early.example");
  clock.at += MINUTE_MS;
  for (const domain of ["news.example", "none.example"]) await crawled(domain);
  const news = () => origins.times("news.example/adagents.json");
  const none = () => origins.times("none.example/adagents.json");
  clock.at += 6 * HOUR_MS - MINUTE_MS;
  // What is due is looked for, and found: the others are not.
  await until(() => origins.times("early.example/adagents.json") === 2, "the one that is due is crawled again");
  for (const domain of ["early.example", "news.example", "none.example"])
    await until(async () => !(await one.pending(domain)), `nothing of ${domain} waits`);
  assert.equal([news(), none()], [1, 1], "not yet");
  clock.at += MINUTE_MS;
  await until(() => news() === 2 && none() === 2, "both are crawled again");
  await until(async () => !(await one.pending("none.example")) && !(await one.pending("news.example")), "both end");
  clock.at += 6 * HOUR_MS;
  await until(() => news() === 3, "the one with a file is crawled again");
  assert.is(none(), 2);
}

async function adopted({ data, origins, clock, crawler }: World): Promise<void> {
  const imported = { domain: "imported.example", crawledAt: clock.at - 24 * HOUR_MS };
  await data.applyCrawl({
    ...imported,
    adagents: {
      ...{ outcome: "absent", method: "direct", managerDomain: null, httpStatus: 404, bytes: 0, resolvedUrl: null },
      problems: [],
    },
    brand: { outcome: "absent", name: null, properties: [], agents: [] },
  });
  await data.putMember({
    ...{ slug: "m", organization: null, displayName: "M", tier: null, founding: false, isPublic: true, agents: [] },
    domains: [{ domain: "member.example", verified: true }],
  });
  const one = await crawler();
  one.start();
  await until(() => origins.times("imported.example/adagents.json") === 1, "the imported one is crawled");
  await until(() => origins.times("member.example/adagents.json") === 1, "the member's is crawled");
}

async function hosted({ data, origins, clock, crawler }: World): Promise<void> {
  const url = (domain: string) => `https://registry.example/publisher/${domain}/.well-known/adagents.json`;
  const content = { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] };
  for (const domain of ["points.example", "elsewhere.example", "down.example"])
    await data.putHostedFile(domain, { file: {}, content });
  origins.answers.set("points.example/adagents.json", { authoritative_location: url("points.example") });
  origins.answers.set("elsewhere.example/adagents.json", { authoritative_location: url("points.example") });
  await data.originChecked("down.example", { verified: true, at: clock.at - 2 * HOUR_MS });
  origins.answers.set("down.example/adagents.json", 503);
  const one = await crawler();
  one.start();
  const verified = async (domain: string) => (await data.hostedFile(domain))?.originVerifiedAt;
  const checked = async (domain: string) => (await data.hostedFile(domain))?.originLastCheckedAt;
  await until(async () => (await checked("points.example")) === clock.at, "the first is asked");
  await until(async () => (await checked("elsewhere.example")) === clock.at, "the second is asked");
  await until(() => origins.times("down.example/adagents.json") === 1, "the third is asked");
  assert.equal([await verified("points.example"), await verified("elsewhere.example")], [clock.at, null]);
  assert.is(await verified("down.example"), clock.at - 2 * HOUR_MS, "an origin that is down keeps its word for a day");
  await one.stop();
  clock.at += 24 * HOUR_MS;
  const two = await crawler();
  two.start();
  await until(async () => (await verified("down.example")) === null, "and no longer");
}

/** Publishers that lead to somebody else's place, each in its own way; and what its own place answers. */
const leading: Readonly<Record<string, readonly [place: string, answer: object | string]>> = {
  "manager.example": ["manager.example/ads.txt", "managerdomain=quiet.example"],
  "pointer.example": [
    "pointer.example/adagents.json",
    { authoritative_location: "https://files.quiet.example./adagents.json" },
  ],
  "house.example": ["house.example/brand.json", { house: QUIET }],
};

async function leftAlone({ data, origins, crawler, ended }: World): Promise<void> {
  for (const [place, answer] of Object.values(leading)) origins.answers.set(place, answer);
  for (const host of [QUIET, "files.quiet.example", "files.quiet.example."]) {
    origins.answers.set(`${host}/adagents.json`, file());
    origins.answers.set(`${host}/brand.json`, { house: { domain: host }, brands: [] });
  }
  await data.putHostedFile(QUIET, {
    file: {},
    content: { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [] },
  });
  await data.optOut(QUIET);
  const one = await crawler();
  one.start();
  for (const domain of Object.keys(leading)) {
    const { crawl_request_id: id } = queued(await one.request(domain, by("a")));
    const request = await ended(one, id);
    assert.is(request?.attempts, 1, "asking again changes nothing");
    if (domain !== "house.example")
      assert.match(String(request?.error), /stands where the owner wants nothing fetched/);
  }
  await one.verifyOrigin(QUIET);
  assert.equal(
    origins.asked.filter((place) => place.includes(QUIET)),
    [],
  );
  await data.optIn(QUIET);
  origins.answers.set("late.example/ads.txt", "managerdomain=quiet.example");
  await ended(one, queued(await one.request("late.example", by("b"))).crawl_request_id);
  assert.is(origins.times("quiet.example/adagents.json"), 1, "as before, once he has thought better of it");
}

/** The process that notes the wish dies over what is to end: after a few transactions the database is not there for it any more. */
async function killedOver({ crawler, ended, origins, data, store }: World): Promise<void> {
  const one = await crawler({ debounceMs: 0 });
  one.start();
  const domains = [QUIET, ...Array.from({ length: 24 }, (_, at) => `b${at}.${QUIET}`)];
  for (const domain of domains) {
    origins.answers.set(`${domain}/adagents.json`, file());
    await ended(one, queued(await one.request(domain, by("a"))).crawl_request_id);
  }
  const told = async () =>
    (await Promise.all(domains.map(async (domain) => (await data.lookupPublisher(domain)).adagents_valid))).filter(
      Boolean,
    ).length;
  const killedAfter = async (writes: number): Promise<void> => {
    let left = writes;
    const write = async (...job: unknown[]): Promise<unknown> => {
      if (left-- > 0) return Reflect.apply(store.database.write, store.database, job);
      throw new Error("killed");
    };
    const dying = new Proxy(store.database, {
      get: (of, name) => (name === "write" ? write : Reflect.get(of, name, of)),
    });
    const own = createRegistryData({ ...store, database: dying } as typeof store);
    await own.optOut(QUIET).catch((error: Error) => assert.is(error.message, "killed"));
  };
  // The wish, new publishers, and the first twenty of those known; then it is said again, and dies sooner.
  await killedAfter(4);
  assert.is(await told(), 5, "some are told still");
  await killedAfter(1);
  assert.equal(await data.endOptedOut(), [QUIET]);
  assert.equal([await told(), await data.endOptedOut()], [0, []]);
  assert.equal(
    (await data.optedOut()).map(({ domain }) => domain),
    [QUIET],
  );
}
