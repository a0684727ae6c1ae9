/** What a registry's server keeps in order, how it asks agents, and a process that holds a part of the search's index. */
import { createRegistryData } from "../../../runtime/registry/data.js";
import { createRegistryPart } from "../../../runtime/registry/index.js";
import { createProber } from "../../../runtime/registry/probe/prober.js";
import { markKeeping, registryUpkeep } from "../../../runtime/registry/server/upkeep.js";
import { registryAccess } from "../../../runtime/store/index.js";
import { agent, crawl, entry, member, property } from "../../registry/data-fixture.js";
import { TOKEN } from "../../registry/search-parts.js";
import { NOW } from "../../sender/fixture.js";
import { type AnyStore, execute, restarted, rows, soon, type World } from "./world.js";

const DAY_MS = 86_400_000;
const publicUrl = "https://registry.example";
const now = () => NOW;

const rates = "remove rate counters that are over";
const tokens = "remove expired tokens and sessions";
const reports = "remove reports that have expired";
const effect = "let authorizations begin and end";
const optOuts = "end what is known of owners who opted out";
const forget = "forget what ended long ago";

let filled = 0;
/** A name that no fill before had. */
export const fresh = (name: string): string => `${name}-${++filled}.example`;

/** The same for what has no dots. */
export const freshSlug = (name: string): string => `${name}-${++filled}`;

/** Data of a registry as it was so many days ago. */
export const dataOf = (store: AnyStore, days = 0) =>
  createRegistryData(store, { now: () => NOW - days * DAY_MS, publicUrl });

/** An authorization whose time is over since, and one that ended so long ago that nobody need be told any more. */
async function authorize(store: AnyStore): Promise<void> {
  const [over, gone] = [fresh("over"), fresh("gone")];
  const properties = [property("main")];
  const ends = entry(`https://${over}/mcp`, { effectiveUntil: NOW - DAY_MS });
  await dataOf(store, 200).applyCrawl(crawl(gone, { properties, agents: [entry(`https://${gone}/mcp`)] }));
  await dataOf(store, 190).applyCrawl(crawl(gone, { properties, agents: [] }));
  await dataOf(store, 2).applyCrawl(crawl(over, { properties, agents: [ends] }));
}

export const registry: World = {
  name: "registry server",
  kinds: [
    { step: rates, table: "adbind_rates" },
    { step: tokens, table: "adbind_issuer_state" },
    { step: reports, table: "adbind_registry_reports" },
    { step: effect, table: "adbind_registry_authorizations", where: `changes_at <= ${NOW}` },
    { step: optOuts, table: "adbind_crawl_opt_outs", where: "source like '%ending'" },
    { step: forget, table: "adbind_registry_feed", where: `gone = 1 and at < ${NOW - 150 * DAY_MS}` },
  ],
  breaches: [
    { table: "adbind_rates", how: "delete", fails: [rates] },
    { table: "adbind_rates", how: "gone", fails: [rates] },
    { table: "adbind_issuer_state", how: "delete", fails: [tokens] },
    { table: "adbind_issuer_state", how: "gone", fails: [tokens] },
    { table: "adbind_registry_reports", how: "delete", fails: [reports] },
    { table: "adbind_registry_reports", how: "gone", fails: [reports] },
    { table: "adbind_crawl_opt_outs", how: "update", fails: [optOuts] },
    { table: "adbind_crawl_opt_outs", how: "gone", fails: [optOuts] },
    { table: "adbind_registry_authorizations", how: "update", fails: [effect] },
    { table: "adbind_registry_authorizations", how: "gone", fails: [effect] },
    { table: "adbind_registry_properties", how: "gone", fails: [effect] },
    { table: "adbind_registry_publishers", how: "gone", fails: [effect, optOuts] },
    { table: "adbind_registry_profiles", how: "gone", fails: [effect] },
    { table: "adbind_registry_profiles", how: "update", fails: [effect] },
    { table: "adbind_registry_feed", how: "update", fails: [effect] },
    { table: "adbind_registry_feed", how: "delete", fails: [forget] },
    { table: "adbind_registry_feed", how: "gone", fails: [effect, forget] },
    { table: "adbind_registry_clock", how: "update", fails: [forget], also: { sqlite: [effect] } },
    { table: "adbind_registry_clock", how: "gone", fails: [effect, forget] },
    { table: "adbind_registry_tallies", how: "gone", fails: [effect, forget], only: "postgres" },
    { table: "adbind_registry_tallies", how: "delete", fails: [forget], only: "postgres" },
  ],
  async fill(store) {
    await authorize(store);
    await rows(store, [
      "insert into adbind_rates values ('k', 1, 1)",
      "insert into adbind_issuer_state (model, id, payload, expires) values ('Session', 'i', '{}', 1)",
      "insert into adbind_crawl_opt_outs values ('quiet.example', 1, 'operator, ending') on conflict (domain) do update set source = excluded.source",
      "insert into adbind_registry_reports (id, kind, body, bytes, expires) values ('r', 'k', '{}', 2, 1)",
    ]);
  },
  start: async (store, log) =>
    restarted(registryUpkeep({ access: registryAccess(store.database), data: dataOf(store), log, now })),
};

const mark = "tell replicas how far they can be read";

export const replicas: World = {
  name: "registry with replicas",
  only: "postgres",
  kinds: [{ step: mark, table: "adbind_registry_clock", where: "settled = 0" }],
  breaches: [
    { table: "adbind_registry_clock", how: "update", fails: [mark] },
    { table: "adbind_registry_clock", how: "gone", fails: [mark] },
  ],
  async fill(store) {
    await dataOf(store).applyCrawl(crawl(fresh("told"), { properties: [property("main")] }));
    await execute(store, "update adbind_registry_clock set settled = 0");
  },
  start: async (store, log) =>
    restarted(markKeeping({ data: createRegistryData(store, { now, publicUrl, search: "database" }), log })),
};

const follow = "follow the registry's changes";

export const part: World = {
  name: "part of the search's index",
  kinds: [],
  breaches: [
    { table: "adbind_registry_clock", how: "gone", fails: [follow] },
    { table: "adbind_registry_profiles", how: "gone", fails: [follow] },
    { table: "adbind_registry_moves", how: "gone", fails: [follow] },
  ],
  async fill(store) {
    await dataOf(store).putMember(member(freshSlug("all"), { agents: [agent(`https://${fresh("listed")}/mcp`)] }));
  },
  async start(store, logger) {
    const made = await createRegistryPart({ store, part: "1/1", token: TOKEN, logger });
    const url = await made.listen({ port: 0 });
    return { ...soon, done: async () => (await fetch(`${url}/readyz`)).ok, stop: () => made.stop() };
  },
};

const ask = "ask agents how they are";
const turn = "give back the turn of asking agents";
const asked =
  "exists (select 1 from adbind_registry_probes b where b.agent = adbind_registry_agents.id and probed_at is not null)";

/** What must not be shown any more, and is asked no more: its row goes. */
async function hide(store: AnyStore): Promise<void> {
  const [hidden, slug] = [fresh("hidden"), freshSlug("shy")];
  const url = `https://${hidden}/mcp`;
  await dataOf(store).putMember(member(slug, { agents: [agent(url, { visibility: "private" })] }));
  await execute(
    store,
    "insert into adbind_registry_probes (agent, owner, misses, next_at) " +
      `select id, 'hidden', 0, 1 from adbind_registry_agents where url = '${url}'`,
  );
}

export const prober: World = {
  name: "prober",
  kinds: [
    { step: ask, table: "adbind_registry_agents", where: `visibility = 'public' and not ${asked}` },
    { step: ask, table: "adbind_registry_probes", where: "owner = 'hidden'" },
  ],
  breaches: [
    { table: "adbind_registry_agents", how: "gone", fails: [ask] },
    { table: "adbind_registry_profiles", how: "gone", fails: [ask] },
    { table: "adbind_registry_probes", how: "insert", fails: [ask] },
    { table: "adbind_registry_probes", how: "update", fails: [ask] },
    { table: "adbind_registry_probes", how: "delete", fails: [ask] },
    { table: "adbind_registry_probes", how: "gone", fails: [ask] },
    { table: "adbind_crawl_turns", how: "insert", fails: [ask] },
    { table: "adbind_crawl_turns", how: "update", when: "new.until > 0", fails: [ask] },
    { table: "adbind_crawl_turns", how: "gone", fails: [ask] },
    { table: "adbind_crawl_turns", how: "update", when: "new.until = 0", fails: [turn], atStop: true },
  ],
  async fill(store) {
    const owner = fresh("owner");
    const urls = ["a", "b", "c"].map((name) => `https://${name}.${owner}/mcp`);
    await execute(store, "delete from adbind_crawl_turns");
    await dataOf(store).putMember(member(freshSlug("seller"), { agents: urls.map((url) => agent(url)) }));
    await hide(store);
  },
  async start(store, log) {
    // A clock that goes on: agents of one owner are asked one after the other.
    let at = NOW;
    const made = createProber({
      store: store.database,
      publicUrl,
      log,
      now: () => {
        at += 1_000;
        return at;
      },
      random: () => 0.5,
      lookMs: 10,
      fetch: async (url) => ({ ok: true, status: 500, headers: {}, body: Buffer.from(""), truncated: false, url }),
    });
    return { ...restarted(made), ...soon };
  },
};
