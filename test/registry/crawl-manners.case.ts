/** The crawler's manners: what robots.txt asks, a pace, and owners who want to be left alone. */
import * as assert from "uvu/assert";
import type { Fetcher, FetchResult } from "../../runtime/net/index.js";
import { pacedFetch } from "../../runtime/registry/crawl/pace.js";
import { robotsAllow, robotsOf, robotsRulesIn } from "../../runtime/registry/crawl/robots.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { processorMs } from "../support/processor.js";
import { until } from "../support/until.js";
import { whole } from "./crawl-fixture.js";
import { by, crawlCases, HOUR_MS, MINUTE_MS, queued, refusedOf, type Test, type World } from "./crawl-world.js";

const FILE = "/.well-known/adagents.json";
const NEWS = "news-site.com";
const AGENT = "https://seller.example/mcp";
const valid = (domain: string) => ({
  authorized_agents: [whole(domain, AGENT)],
  properties: [{ property_type: "website", name: "Site", identifiers: [{ type: "domain", value: domain }] }],
});

/** Rules of RFC 9309 by example. */
export function robotsRules(test: Test): void {
  test("robots.txt: our own group before everybody's, the longest rule, and the one that allows", () => {
    const all = "User-agent: *\nDisallow: /\n";
    const cases: readonly (readonly [text: string, allowed: boolean])[] = [
      ["", true],
      [all, false],
      [`${all}\nUser-agent: ADBIND-Registry # ours\nAllow: /.well-known/\nDisallow: /`, true],
      [`User-agent: other\nUser-agent: adbind-registry\ndisallow:/.well-known\n\nUser-agent: *\nAllow: /`, false],
      ["User-agent: *\nDisallow:\n", true],
      ["User-agent: *\nDisallow: /*.json$\n", false],
      ["User-agent: *\nDisallow: /*.json$\nAllow: /.well-known/adagents.json\n", true],
      ["User-agent: *\nDisallow: /.well-known/adagents.json\nAllow: /.well-known/adagents.json", true],
      ["User-agent: *\nDisallow: /*known*agents.jso$", true],
      ["Disallow: /\nUser-agent: *\nDisallow: /private", true],
      ["<html>User-agent: * Disallow: /</html>", true],
    ];
    for (const [text, allowed] of cases) assert.is(robotsAllow(robotsRulesIn(text), FILE), allowed, text);
    const long = `User-agent: *\nDisallow: /${"*a".repeat(249)}$\n`;
    const place = `/.well-known/${"a".repeat(2_000)}`;
    const took = processorMs(() => void robotsAllow(robotsRulesIn(long.repeat(500)), place));
    assert.ok(took < 1_000, "a rule made to be slow is not");
  });

  test("robots.txt: a large one is heeded to its end, whatever it says to others before", async () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => `Disallow: /archive/${at}/`).join("\n");
    const text = `User-agent: greedy\n${lines}\n\nUser-agent: *\n${lines}\n\nUser-agent: adbind-registry\n${lines}\nDisallow: /\n`;
    const asked: string[] = [];
    const fetch: Fetcher = async (url) => {
      asked.push(url);
      return { ok: true, status: 200, headers: {}, body: Buffer.from(text), truncated: false, url };
    };
    const robots = robotsOf(fetch, Date.now, new AbortController().signal);
    assert.is(await robots(NEWS, FILE, false), false);
    assert.is(await robots(NEWS, FILE, false), false, "what is kept of it says the same");
    assert.is(asked.length, 1);
  });

  test("one owner's hosts are asked one after the other, others meanwhile", async () => {
    const began: [string, number][] = [];
    const paced = pacedFetch(
      async (url) => {
        began.push([new URL(url).hostname, performance.now()]);
        return { ok: true, status: 200, headers: {}, body: Buffer.from(""), truncated: false, url };
      },
      { apartMs: 60, now: () => performance.now() },
    );
    const all = ["a.one.com", "b.one.com", "two.com", "one.com"].map((host) => paced(`https://${host}/`));
    // Held up for longer than both wait: they do not start together for that.
    const held = performance.now() + 150;
    while (performance.now() < held);
    await Promise.all(all);
    const own = began.filter(([host]) => host.endsWith("one.com")).map(([, at]) => at);
    assert.ok(own[1]! - own[0]! > 45 && own[2]! - own[1]! > 45, JSON.stringify(began));
    assert.is(began.findIndex(([host]) => host === "two.com") < 2, true);
  });
}

async function forbidden({ crawler, ended, origins, data, clock }: World): Promise<void> {
  const one = await crawler({ debounceMs: 0 });
  origins.answers.set(`${NEWS}/adagents.json`, valid(NEWS));
  const crawl = async () => {
    const { crawl_request_id } = queued(await one.request(NEWS, by("a")));
    one.start();
    return (await ended(one, crawl_request_id))!;
  };
  assert.is((await crawl()).error, null, "an origin without robots.txt forbids nothing");
  origins.answers.set(`${NEWS}/robots.txt`, "User-agent: *\nDisallow: /.well-known/adagents.json\n");
  const before = origins.times(`${NEWS}/adagents.json`);
  clock.at += HOUR_MS;
  const refused = await crawl();
  assert.match(refused.error!, "robots.txt");
  assert.is(origins.times(`${NEWS}/adagents.json`), before, "it was not fetched");
  const found = await data.lookupPublisher(NEWS);
  assert.is(found.authorized_agents.length, 1, "what is known counts on for a while");
  assert.match((await data.crawlState(NEWS))!.problems.map(({ rule }) => rule).join(), /^$|robots/);
  origins.answers.set(`${NEWS}/robots.txt`, 503);
  assert.is((await crawl()).error, null, "nor does one that cannot be had");
}

async function leftAlone({ crawler, ended, origins, data }: World): Promise<void> {
  const one = await crawler({ debounceMs: 0 });
  for (const domain of [NEWS, `blog.${NEWS}`, `other-${NEWS}`]) {
    origins.answers.set(`${domain}/adagents.json`, valid(domain));
    const { crawl_request_id } = queued(await one.request(domain, by("a")));
    one.start();
    await ended(one, crawl_request_id);
  }
  // Nobody else's word of them is told either: said before, or afterwards.
  const claim = [{ publisherDomain: NEWS, authorizedFor: "All" }];
  const claiming = async (domain: string, about: string) => {
    const authorized_agents = [whole(domain, AGENT), whole(about, AGENT)];
    origins.answers.set(`${domain}/adagents.json`, { ...valid(domain), authorized_agents });
    await ended(one, queued(await one.request(domain, by("a"))).crawl_request_id);
  };
  await claiming("stranger-one.com", NEWS);
  await data.putClaims("https://claims.example/mcp", claim);
  assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 3);
  assert.equal(await data.optOut(NEWS), [`blog.${NEWS}`, NEWS]);
  await claiming("stranger-two.com", `never.${NEWS}`);
  await claiming("stranger-one.com", NEWS);
  await data.putClaims("https://claims.example/mcp", claim);
  const told = await data.agentPublishers("https://claims.example/mcp", { limit: 10 });
  assert.equal(told?.ok && told.value.publishers, []);
  const asked = origins.asked.length;
  for (const domain of [NEWS, `blog.${NEWS}`, `never.${NEWS}`]) {
    assert.is(refusedOf(await one.request(domain, by("a"))), "opted_out");
    assert.is(await one.autoCrawl(domain), false);
    assert.is(await one.inspect(domain), undefined);
    const { authorized_agents: agents, properties, adagents_valid } = await data.lookupPublisher(domain);
    assert.equal([agents, properties, adagents_valid], [[], [], null]);
  }
  assert.is(origins.asked.length, asked, "nothing is fetched");
  assert.is((await data.lookupPublisher(`other-${NEWS}`)).adagents_valid, true);
  assert.equal(
    (await data.optedOut()).map(({ domain }) => domain),
    [NEWS],
  );
  assert.is(await data.optIn(NEWS), true);
  assert.is(refusedOf(await one.request(NEWS, by("a"))), undefined);
}

/** An owner opts out, and thinks better of it before anybody who claims the domain is crawled again. */
async function toldAgain({ crawler, ended, origins, data }: World): Promise<void> {
  const one = await crawler({ debounceMs: 0 });
  one.start();
  const crawl = async (domain: string) => {
    const { crawl_request_id: id } = queued(await one.request(domain, by("a")));
    assert.is((await ended(one, id))?.status, "completed");
  };
  const stranger = "stranger.com";
  const authorized_agents = [whole(stranger, AGENT), whole(NEWS, AGENT)];
  origins.answers.set(`${stranger}/adagents.json`, { ...valid(stranger), authorized_agents });
  await crawl(stranger);
  const claims = async () => (await data.lookupPublisher(NEWS)).authorized_agents.map(({ source }) => source);
  assert.equal(await claims(), ["agent_claim"]);
  await data.optOut(NEWS);
  assert.equal(await claims(), []);
  await data.optIn(NEWS);
  await crawl(stranger);
  assert.equal(await claims(), ["agent_claim"], "what its file says, as it did before");
  assert.is((await data.stats()).authorizations_by_source.agent_claim, 1);
}

/** Whose owner opts out between the fetch and its end. */
async function leftAloneMeanwhile({ crawler, ended, origins, data }: World): Promise<void> {
  const one = await crawler({ debounceMs: 0 });
  const answered = Promise.withResolvers<void>();
  origins.answers.set(`${NEWS}/adagents.json`, async (): Promise<FetchResult> => {
    await answered.promise;
    const body = Buffer.from(JSON.stringify(valid(NEWS)));
    return {
      ok: true,
      status: 200,
      headers: {},
      body,
      truncated: false,
      url: `https://${NEWS}/.well-known/adagents.json`,
    };
  });
  const { crawl_request_id: id } = queued(await one.request(NEWS, by("a")));
  one.start();
  await until(() => origins.times(`${NEWS}/adagents.json`) === 1, "its file is being fetched");
  await data.optOut(NEWS);
  answered.resolve();
  const record = await ended(one, id);
  assert.is(record?.last_error_code, "opted_out");
  const { authorized_agents: agents, properties, adagents_valid } = await data.lookupPublisher(NEWS);
  assert.equal([agents, properties, adagents_valid], [[], [], null]);
}

async function askedToWait({ origins, clock, crawler }: World): Promise<void> {
  const later = (seconds: string) => async (): Promise<FetchResult> => {
    const headers = { "retry-after": seconds };
    return { ok: true, status: 503, headers, body: Buffer.from(""), truncated: false, url: "https://news.example/" };
  };
  const one = await crawler();
  one.start();
  for (const [domain, seconds, minutes] of [
    ["asks.example", "600", 10],
    ["hurries.example", "3", 1],
    ["never.example", "99999999", 60],
    ["babbles.example", "soon", 1],
  ] as const) {
    origins.answers.set(`${domain}/adagents.json`, later(seconds));
    const { crawl_request_id: id } = queued(await one.request(domain, by("a")));
    await until(async () => (await one.read(id))?.status === "retrying", `${domain} is tried again`);
    assert.is(Date.parse((await one.read(id))!.next_attempt_at!), clock.at + minutes * MINUTE_MS, domain);
  }
  clock.at += 6 * MINUTE_MS;
  const asked = origins.times("never.example/adagents.json");
  const { status } = queued(await one.request("never.example", by("b")));
  assert.equal([status, origins.times("never.example/adagents.json")], ["retrying", asked], "whoever asks for it");
}

/** As many wait as there is room for, and for one of them somebody asks. */
async function askedWhileFull({ origins, clock, crawler, ended }: World): Promise<void> {
  const retryMs = [2 * HOUR_MS];
  const [large, small] = [await crawler({ retryMs }), await crawler({ retryMs, capacity: 1 })];
  large.start();
  const ids: string[] = [];
  for (const domain of [NEWS, "other.example"]) {
    origins.answers.set(`${domain}/adagents.json`, 503);
    ids.push(queued(await large.request(domain, by("a"))).crawl_request_id);
  }
  for (const id of ids) await until(async () => (await large.read(id))?.status === "retrying", "it waits");
  origins.answers.set(`${NEWS}/adagents.json`, valid(NEWS));
  clock.at += HOUR_MS / 2;
  const { crawl_request_id: again } = queued(await small.request(NEWS, by("owner")));
  assert.is((await ended(large, again))?.status, "completed", "it takes the place of the one that gave way");
  assert.is(refusedOf(await small.request("third.example", by("b"))), "queue_full");
}

/** An origin was down while its owner published a file; the owner asks for it long before it would be tried again. */
async function askedAgain({ origins, clock, crawler, data, ended }: World): Promise<void> {
  const one = await crawler({ retryMs: [2 * HOUR_MS, 2 * HOUR_MS] });
  one.start();
  origins.answers.set(`${NEWS}/adagents.json`, 503);
  const request = async (who: string) => queued(await one.request(NEWS, by(who)));
  const { crawl_request_id: first } = await request("a");
  await until(async () => (await one.read(first))?.status === "retrying", "it waits to be tried again");
  origins.answers.set(`${NEWS}/adagents.json`, valid(NEWS));
  clock.at += 4 * MINUTE_MS;
  assert.is((await request("owner")).crawl_request_id, first, "it was tried just now");
  assert.is(await one.autoCrawl(NEWS), false, "a lookup is no reason");
  clock.at += MINUTE_MS;
  assert.is(await one.autoCrawl(NEWS), false);
  const { crawl_request_id: second } = await request("owner");
  assert.is((await ended(one, second))?.status, "completed");
  assert.is((await data.lookupPublisher(NEWS)).authorized_agents.length, 1);
  assert.equal([(await one.read(first))?.status, (await one.read(first))?.attempts], ["failed", 1]);
  // The job of the one that gave way comes to nothing.
  const asked = origins.times(`${NEWS}/adagents.json`);
  clock.at += 2 * HOUR_MS;
  const other = queued(await one.request("other.example", by("a"))).crawl_request_id;
  await ended(one, other);
  assert.is(origins.times(`${NEWS}/adagents.json`), asked);
  assert.is((await one.read(first))?.status, "failed");
}

export function crawlMannersCase(test: Test, name: string, open: () => Promise<SqliteStore | PostgresStore>): void {
  crawlCases(test, name, open, [
    ["what robots.txt forbids is not fetched, and what is known ends when its time is over", forbidden],
    ["an origin that says when to come again is asked no sooner, and in an hour at the latest", askedToWait],
    ["who asks for a crawl has it, though another one waits for hours to be tried again", askedAgain],
    ["a request that gives way makes room for the one it gives way to", askedWhileFull],
    ["what others say of a domain is told again once its owner opts in", toldAgain],
    ["of a domain whose owner opts out nothing is fetched, and what was found ends", leftAlone],
    ["what was being fetched of a domain when its owner opted out is not kept", leftAloneMeanwhile],
  ]);
}
