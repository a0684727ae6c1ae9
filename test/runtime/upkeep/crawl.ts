/** What a registry's crawler plans, keeps and gives back. */
import { openQueue } from "../../../runtime/queue/index.js";
import { tellLog } from "../../../runtime/queue/periodic.js";
import { hostedChecks } from "../../../runtime/registry/crawl/hosted.js";
import { crawlMetrics } from "../../../runtime/registry/crawl/metrics.js";
import { crawlRequests } from "../../../runtime/registry/crawl/requests.js";
import { crawlSchedule } from "../../../runtime/registry/crawl/schedule.js";
import { checkedCrawlLimits } from "../../../runtime/registry/crawl/settings.js";
import { crawl as crawled, entry, failed, member, property } from "../../registry/data-fixture.js";
import { NOW } from "../../sender/fixture.js";
import { dataOf, fresh, freshSlug } from "./registry.js";
import { type AnyStore, execute, restarted, rows, type World } from "./world.js";

const DAY_MS = 86_400_000;
const requestsGone = "remove old crawl requests";
const revocations = "remove revocations that are over";
const planned = "queue the domains whose crawl is due";
const effect = "let authorizations begin and end";
const adopted = "plan crawls of imported publishers";
const putOff = "take up domains that a clock ahead put off";
const members = "queue members' domains that were never crawled";
const stale = "end what files said that have been gone for long";
const hosted = "ask origins whether they point at hosted files";
const unnamed = "remove agents that nobody names any more";
const turn = "take the turn of the registry's upkeep";
const givenBack = ["give back the turn recrawl", "give back the turn upkeep"];
/** What is done in the turn: none of it where the turn cannot be had. */
const inTurn = [adopted, unnamed, putOff, members, stale, hosted];
/** When a domain would be crawled that a clock years ahead has planned. */
const FAR = NOW + 4_000 * DAY_MS;

/** A publisher whose file was valid long ago, and gone at the last crawl; and one whose agent's time is over. */
async function publish(store: AnyStore): Promise<void> {
  const [domain, over] = [fresh("stale"), fresh("over")];
  const properties = [property("main")];
  const agents = [entry(`https://${domain}/mcp`)];
  const at = NOW - 20 * DAY_MS;
  await dataOf(store, 20).applyCrawl(crawled(domain, { properties, agents }, { at }));
  await dataOf(store, 10).applyCrawl({ ...failed(domain, "unreachable", null), crawledAt: NOW - 10 * DAY_MS });
  const ends = entry(`https://${over}/mcp`, { effectiveUntil: NOW - DAY_MS });
  await dataOf(store, 2).applyCrawl(crawled(over, { properties, agents: [ends] }));
  await dataOf(store).putMember(member(freshSlug("member"), { domains: [{ domain: fresh("never"), verified: true }] }));
}

const notIn = (table: string, domain: string): string =>
  `not exists (select 1 from ${table} c where c.domain = ${domain})`;

export const crawl: World = {
  name: "registry crawler",
  kinds: [
    { step: requestsGone, table: "adbind_crawl_requests", where: "completed_at = 1" },
    { step: revocations, table: "adbind_crawl_revocations" },
    { step: planned, table: "adbind_crawl_domains", where: "next_at = 1 and active is null" },
    { step: putOff, table: "adbind_crawl_domains", where: `next_at = ${FAR}` },
    { step: effect, table: "adbind_registry_authorizations", where: `changes_at <= ${NOW}` },
    {
      step: adopted,
      table: "adbind_registry_publishers",
      where: `domain like 'imported%' and ${notIn("adbind_crawl_domains", "adbind_registry_publishers.domain")}`,
    },
    {
      step: members,
      table: "adbind_registry_member_domains",
      where: notIn("adbind_crawl_requests", "adbind_registry_member_domains.domain"),
    },
    { step: stale, table: "adbind_registry_publishers", where: "domain like 'stale%' and valid = 1" },
    { step: hosted, table: "adbind_registry_hosted", where: "origin_checked_at is null" },
    { step: unnamed, table: "adbind_registry_agents", where: "url like 'https://unnamed%'" },
  ],
  breaches: [
    { table: "adbind_crawl_requests", how: "delete", fails: [requestsGone] },
    { table: "adbind_crawl_requests", how: "insert", fails: [members, planned] },
    { table: "adbind_crawl_requests", how: "gone", fails: [members, planned, requestsGone] },
    { table: "adbind_crawl_revocations", how: "delete", fails: [revocations] },
    { table: "adbind_crawl_revocations", how: "gone", fails: [revocations] },
    { table: "adbind_crawl_domains", how: "update", fails: [members, planned, putOff] },
    { table: "adbind_crawl_domains", how: "insert", fails: [adopted, members, planned] },
    { table: "adbind_crawl_domains", how: "gone", fails: [adopted, members, planned, putOff] },
    { table: "adbind_crawl_turns", how: "update", fails: [adopted] },
    { table: "adbind_crawl_turns", how: "insert", fails: [planned, turn], waits: inTurn },
    { table: "adbind_crawl_turns", how: "gone", fails: [planned, turn], waits: inTurn },
    { table: "adbind_crawl_turns", how: "update", when: "new.until = 0", fails: givenBack, atStop: true },
    { table: "adbind_jobs", how: "insert", fails: [members, planned] },
    { table: "adbind_registry_publishers", how: "update", fails: [stale] },
    { table: "adbind_registry_publishers", how: "gone", fails: [adopted, effect, members, stale] },
    { table: "adbind_registry_member_domains", how: "gone", fails: [members] },
    { table: "adbind_registry_authorizations", how: "update", fails: [effect] },
    { table: "adbind_registry_authorizations", how: "gone", fails: [effect, stale, unnamed] },
    { table: "adbind_registry_agents", how: "delete", fails: [unnamed] },
    { table: "adbind_registry_hosted", how: "update", fails: [hosted] },
    { table: "adbind_registry_hosted", how: "gone", fails: [hosted] },
  ],
  async fill(store) {
    const due = (domain: string, at = 1): string =>
      `insert into adbind_crawl_domains values ('${domain}', null, null, 0, ${at}) on conflict (domain) do update set active = null, next_at = ${at}`;
    // Those that were queued before are forgotten, and their requests with them.
    await execute(store, "delete from adbind_registry_member_domains");
    await publish(store);
    await rows(store, [
      "delete from adbind_crawl_turns",
      "delete from adbind_crawl_requests",
      "insert into adbind_crawl_requests values ('old', 'a.example', 'completed', 1, 1, 'me', 'request', 1, 1, 1, null, null)",
      "insert into adbind_crawl_revocations values ('s', 'd', 1)",
      due("due.example"),
      due("next.example"),
      due("far.example", FAR),
      `insert into adbind_registry_publishers (domain, crawled_at) values ('${fresh("imported")}', ${NOW})`,
      `insert into adbind_registry_agents (url) values ('https://${fresh("unnamed")}/mcp')`,
      `insert into adbind_registry_hosted (domain, file, updated_at) values ('${fresh("hosted")}', '{}', 1)`,
    ]);
  },
  start: async (of, logger) => {
    const now = () => NOW;
    const store = of.database;
    const queue = openQueue(store, "crawl", { now });
    const data = dataOf(of);
    const limits = checkedCrawlLimits({} as never);
    const metrics = crawlMetrics(undefined);
    const requests = crawlRequests({ store, queue, limits, metrics, now, safety: async () => undefined as never });
    const body = Buffer.from("{}");
    const origin = {
      fetch: async (url: string) => ({ ok: true, status: 200, headers: {}, body, truncated: false, url }) as const,
      publicUrl: "https://registry.example",
      hostedFile: async () => undefined,
    };
    const { due } = hostedChecks({ data, origin, metrics, recheckMs: limits.recheckMs, now });
    const schedule = crawlSchedule({
      ...{ store, data, requests, limits, now, owner: "me", random: () => 0.5, telling: tellLog(logger) },
      checkHosted: due,
      onEnded: () => undefined,
    });
    const running = restarted(schedule);
    return {
      next: () => running.next(),
      async stop() {
        await running.stop();
        await queue.close();
      },
    };
  },
};
