/** Everything in adbind that works by a timer on a database, with something due for each of its steps. */
import type { Logger } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { tellLog } from "../../runtime/queue/periodic.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { crawlMetrics } from "../../runtime/registry/crawl/metrics.js";
import { crawlRequests } from "../../runtime/registry/crawl/requests.js";
import { crawlSchedule } from "../../runtime/registry/crawl/schedule.js";
import { checkedCrawlLimits } from "../../runtime/registry/crawl/settings.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { registryUpkeep } from "../../runtime/registry/server/upkeep.js";
import { sellerUpkeep } from "../../runtime/seller/upkeep.js";
import { createSender } from "../../runtime/sender/index.js";
import { type PostgresStore, registryAccess, type SqliteStore } from "../../runtime/store/index.js";
import { sellerDatabase } from "../../runtime/store/seller-tables.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { PUBLIC_URL } from "../support/receiver.js";
import { type Breach, type Engine, execute } from "./upkeep-world.js";

type AnyStore = SqliteStore | PostgresStore;

/** One kind of what is due: its step, and how the database shows that it is still to be done. */
export interface Kind {
  readonly step: string;
  readonly table: string;
  readonly where?: string;
}

export interface Running {
  /** Runs once more, now or soon. */
  next(): Promise<void>;
  stop(): Promise<unknown>;
}

export interface World {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** What is broken, and the steps that fail by it. */
  readonly breaches: readonly (Breach & { readonly fails: readonly string[] })[];
  /** Makes something due of every kind, once more. */
  fill(store: AnyStore, engine: Engine): Promise<void>;
  start(store: AnyStore, log: Logger): Promise<Running>;
}

const rows = (store: AnyStore, texts: readonly string[]): Promise<void> =>
  texts.reduce((before, text) => before.then(() => execute(store, text)), Promise.resolve());

/** What is started again runs at once. */
const restarted = (one: { start(): void; stop(): Promise<void> }): Running => {
  one.start();
  return {
    async next() {
      await one.stop();
      one.start();
    },
    stop: () => one.stop(),
  };
};

const soon = { next: async () => undefined };

const keys = "remove idempotency keys that are remembered no longer";
const answers = "remove answers that are replayed no longer";
const tasks = "remove expired tasks";

const seller: World = {
  name: "seller",
  kinds: [
    { step: keys, table: "adbind_calls", where: `forget_at <= ${NOW}` },
    { step: answers, table: "adbind_calls", where: "answer is not null" },
    { step: tasks, table: "adbind_seller_tasks" },
  ],
  breaches: [
    { table: "adbind_calls", how: "delete", fails: [keys] },
    { table: "adbind_calls", how: "update", fails: [answers] },
    { table: "adbind_calls", how: "gone", fails: [keys, answers] },
    { table: "adbind_seller_tasks", how: "delete", fails: [tasks] },
    { table: "adbind_seller_tasks", how: "gone", fails: [tasks] },
  ],
  fill: (store) =>
    rows(store, [
      `insert into adbind_calls values ('s', 'old', 'h', null, 0, null, 0, 1, null)`,
      `insert into adbind_calls values ('s', 'answered', 'h', null, 0, '{}', 1, ${NOW + 1}, null) on conflict (scope, key) do update set answer = '{}'`,
      "insert into adbind_seller_tasks (task_id, principal, tool, protocol, release, status, created_at, updated_at, " +
        "has_webhook, expires) values ('t', 'p', 'x', 'y', '3.1.0', 'completed', 0, 0, 0, 1)",
    ]),
  start: async (store, logger) =>
    restarted(sellerUpkeep(sellerDatabase<unknown>(store.database), { now: () => NOW, logger })),
};

const coalesced = "send coalesced events";
const reports = "fire delivery reports";
const closed = "remove closed channels";
const proofs = "prove notification configs that were moved";
const activity = "remove old webhook activity";
const HOUR_MS = 3_600_000;

const sender: World = {
  name: "sender",
  kinds: [
    { step: coalesced, table: "adbind_coalescing" },
    { step: reports, table: "adbind_channels", where: `next_fire <= ${NOW + 2 * HOUR_MS}` },
    { step: activity, table: "adbind_activity", where: "expires <= 1" },
    { step: tasks, table: "adbind_sent_tasks" },
  ],
  breaches: [
    { table: "adbind_coalescing", how: "delete", fails: [coalesced] },
    { table: "adbind_coalescing", how: "gone", fails: [coalesced] },
    { table: "adbind_channels", how: "update", fails: [reports] },
    { table: "adbind_channels", how: "gone", fails: [closed, coalesced, proofs, reports] },
    { table: "adbind_jobs", how: "insert", fails: [coalesced, reports] },
    { table: "adbind_activity", how: "delete", fails: [activity] },
    { table: "adbind_sent_tasks", how: "delete", fails: [tasks] },
    { table: "adbind_sent_tasks", how: "gone", fails: [tasks] },
  ],
  fill: (store) => {
    const hook = `{"url":"https://buyer.example/hooks/a","operation_id":"op-1","reporting_frequency":"hourly"}`;
    const channel =
      "insert into adbind_channels (resource, kind, subscriber, principal, config, period_start, next_fire) values ";
    const again = "on conflict (resource, kind, subscriber) do update set next_fire = excluded.next_fire";
    return rows(store, [
      `${channel} ('mb-1', 'reporting', '', 'p', '${hook}', ${NOW}, ${NOW + HOUR_MS}) ${again}`,
      `${channel} ('mb-1', 'events', '', 'p', '${hook}', null, null) ${again}`,
      `insert into adbind_coalescing values ('mb-1', 'x', 'n-1', 'impairment', '{}', 1)`,
      "insert into adbind_activity (principal, subject, record, expires) values ('p', 's', '{}', 1)",
      "insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires, revision) " +
        "values ('t', 'p', 'x', 'completed', '2026', '{}', 1, 0)",
    ]);
  },
  start: async (store, logger) => {
    const clock = { at: NOW + 2 * HOUR_MS };
    const network = new FakeNetwork(clock);
    const made = await createSender({
      ...optionsFor(clock, network),
      store: store as SqliteStore,
      logger,
      reports: () => ({ currency: "EUR", media_buy_deliveries: [] }),
    });
    made.start();
    return { ...soon, stop: () => made.stop() };
  },
};

const expired = (what: string): string => `remove expired ${what}`;
const parked = "remove parked events whose registration never came";

const receiver: World = {
  name: "receiver",
  kinds: [
    ...["claims", "nonces", "tasks", "notifications", "registrations"].map((what) => ({
      step: expired(what),
      table: `adbind_${what}`,
    })),
    { step: parked, table: "adbind_inbox", where: "state = 'parked'" },
  ],
  breaches: [
    ...["claims", "nonces", "tasks", "notifications", "registrations"].map((what) => ({
      table: `adbind_${what}`,
      how: "delete" as const,
      fails: [expired(what)],
    })),
    { table: "adbind_inbox", how: "update", fails: [parked] },
    { table: "adbind_claims", how: "gone", fails: [expired("claims")] },
    { table: "adbind_nonces", how: "gone", fails: [expired("nonces")] },
    { table: "adbind_registrations", how: "gone", fails: [expired("registrations")] },
  ],
  fill: (store, { blob, no }) =>
    rows(store, [
      "insert into adbind_senders (url) values ('https://seller.example/mcp') on conflict do nothing",
      `insert into adbind_claims values (1, ${blob}, ${blob}, 1)`,
      "insert into adbind_nonce_keys (keyid) values ('k') on conflict do nothing",
      "insert into adbind_nonces values (1, 'n', 1)",
      `insert into adbind_tasks values (1, 't', '2026', 'working', ${no}, null, 1)`,
      "insert into adbind_notifications values (1, 'n', 1)",
      "insert into adbind_registrations (route, operation_id, sender, kind, mode, format, expires) " +
        "values ('/r', '', 's', 'task', 'signature', 'mcp', 1)",
      "insert into adbind_inbox (state, sender, key, route, kind, release, reemission, received_at, due, notes, body) " +
        `values ('parked', 1, 'k', '/p', 'task', '3.1.0', ${no}, 1, 1, '[]', ${blob})`,
    ]),
  start: async (store, logger) => {
    const made = createReceiver({
      store: store as SqliteStore,
      release,
      handlers: { fallback: () => undefined },
      senders: { "https://seller.example/mcp": { keys: { resolve: () => ({ kind: "unknown" }) as never } } },
      publicUrl: PUBLIC_URL,
      now: () => NOW,
      logger,
    });
    made.start();
    return { ...soon, stop: () => made.stop() };
  },
};

const rates = "remove rate counters that are over";
const tokens = "remove expired tokens and sessions";

const registry: World = {
  name: "registry server",
  kinds: [
    { step: rates, table: "adbind_rates" },
    { step: tokens, table: "adbind_issuer_state" },
  ],
  breaches: [
    { table: "adbind_rates", how: "delete", fails: [rates] },
    { table: "adbind_rates", how: "gone", fails: [rates] },
    { table: "adbind_issuer_state", how: "delete", fails: [tokens] },
    { table: "adbind_registry_authorizations", how: "gone", fails: ["let authorizations begin and end"] },
  ],
  fill: (store) =>
    rows(store, [
      "insert into adbind_rates values ('k', 1, 1)",
      "insert into adbind_issuer_state (model, id, payload, expires) values ('Session', 'i', '{}', 1)",
    ]),
  start: async (store, log) => {
    const now = () => NOW;
    const data = createRegistryData(store, { now, publicUrl: "https://registry.example" });
    return restarted(registryUpkeep({ access: registryAccess(store.database), data, log: log as never, now }));
  },
};

const requestsGone = "remove old crawl requests";
const revocations = "remove revocations that are over";
const planned = "queue the domains whose crawl is due";
const adopted = "plan crawls of imported publishers";
const turn = "take the turn of the registry's upkeep";

const crawl: World = {
  name: "registry crawler",
  kinds: [
    { step: requestsGone, table: "adbind_crawl_requests", where: "completed_at = 1" },
    { step: revocations, table: "adbind_crawl_revocations" },
    { step: planned, table: "adbind_crawl_domains", where: "next_at = 1 and active is null" },
  ],
  breaches: [
    { table: "adbind_crawl_requests", how: "delete", fails: [requestsGone] },
    { table: "adbind_crawl_requests", how: "insert", fails: [planned] },
    { table: "adbind_crawl_revocations", how: "delete", fails: [revocations] },
    { table: "adbind_crawl_revocations", how: "gone", fails: [revocations] },
    { table: "adbind_crawl_turns", how: "update", fails: [adopted] },
    { table: "adbind_crawl_turns", how: "gone", fails: [turn, planned] },
    { table: "adbind_jobs", how: "insert", fails: [planned] },
  ],
  fill: (store) =>
    rows(store, [
      "delete from adbind_crawl_turns",
      "delete from adbind_crawl_requests",
      "insert into adbind_crawl_requests values ('old', 'a.example', 'completed', 1, 1, 'me', 'request', 1, 1, 1, null, null)",
      "insert into adbind_crawl_revocations values ('s', 'd', 1)",
      "insert into adbind_crawl_domains values ('due.example', null, null, 0, 1) on conflict (domain) do update set active = null, next_at = 1",
      "insert into adbind_crawl_domains values ('next.example', null, null, 0, 1) on conflict (domain) do update set active = null, next_at = 1",
    ]),
  start: async (of, logger) => {
    const now = () => NOW;
    const store = of.database;
    const queue = openQueue(store, "crawl", { now });
    const data = createRegistryData(of, { now, publicUrl: "https://registry.example" });
    const limits = checkedCrawlLimits({} as never);
    const requests = crawlRequests({
      store,
      queue,
      limits,
      metrics: crawlMetrics(undefined),
      now,
      safety: async () => undefined as never,
    });
    const schedule = crawlSchedule({
      ...{ store, data, requests, limits, now, owner: "me", random: () => 0.5, telling: tellLog(logger) },
      checkHosted: async () => undefined,
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

export const worlds: readonly World[] = [seller, sender, receiver, registry, crawl];
