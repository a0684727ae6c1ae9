/** A sender's upkeep, the keys of its secrets, and a sender on several databases. */
import { mkdir, rename, rmdir } from "node:fs/promises";
import { openDatabase } from "../../../runtime/db/open.js";
import { openQueue } from "../../../runtime/queue/index.js";
import { createPeriodic, tellLog } from "../../../runtime/queue/periodic.js";
import { CLOSED } from "../../../runtime/sender/channel-state.js";
import { createSender } from "../../../runtime/sender/index.js";
import { OUTBOX_TOPIC } from "../../../runtime/sender/outbox.js";
import { channelRegistration, taskRegistration } from "../../../runtime/sender/registered-config.js";
import { createKeyring } from "../../../runtime/sender/sealing.js";
import { keysStep } from "../../../runtime/sender/upkeep.js";
import type { SqliteStore } from "../../../runtime/store/index.js";
import { splitChange } from "../../../runtime/store/split/change.js";
import { shardedByPrincipal } from "../../../runtime/store/split/principals.js";
import { FakeNetwork, listening, NOW, optionsFor, secretKeys } from "../../sender/fixture.js";
import { tasks } from "./seller.js";
import { type AnyStore, freshFile, isLeft, restarted, rows, soon, type World } from "./world.js";

const HOUR_MS = 3_600_000;
const look = "look for what is due";
const coalesced = "send coalesced events";
const reports = "fire delivery reports";
const proofs = "prove notification configs that were moved";
const secrets = "erase secrets of what is over";
const activity = "remove old webhook activity";
const dedup = "remove expired dedup keys";
const caps = "expire what has waited for too long";
const dead = "remove old dead letters";
const most = "remove dead letters beyond their number";
const closed = "remove closed channels";
const idle = "remove endpoints that nothing waits for";
const beyond = "remove activity beyond its rows";
const setBack = "bring nearer what a clock that was set back has made far";
const alarms = "look for what an operator should see to";

/** Between two challenges of a config that was moved, in milliseconds. */
const AGAIN_MS = 300_000;

let filled = 0;

/** Jobs of long ago: one that waits, and is not due for a while yet, and one that was given up. */
async function addJobs({ database }: AnyStore): Promise<void> {
  filled += 1;
  const queue = await openQueue(database, OUTBOX_TOPIC, { now: () => 1 });
  const job = (name: string) => ({
    key: `${name}-${filled}`,
    endpoint: `https://slow.example p.${name}`,
    orderingKey: `order-${name}`,
    due: NOW + 3 * HOUR_MS,
    meta: "{}",
    body: new Uint8Array(),
  });
  await queue.transact((q) => queue.add(q, [job("waits"), job("dead")]));
  await queue.close();
}

const secret = (registration: string, order: string): string =>
  "insert into adbind_sender_secrets (registration, principal, key_id, box, endpoint, ordering_key, check_at) values " +
  `('${registration}', 'p', 'k1', 'b', 'https://slow.example p.waits', '${order}', 1) ` +
  "on conflict (registration) do update set check_at = 1";

export const sender: World = {
  name: "sender",
  stores: 5,
  kinds: [
    { step: coalesced, table: "adbind_coalescing" },
    { step: reports, table: "adbind_channels", where: `kind = 'reporting' and next_fire <= ${NOW + 2 * HOUR_MS}` },
    { step: proofs, table: "adbind_channels", where: "kind = 'account' and next_fire is not null" },
    { step: closed, table: "adbind_channels", where: `closed = ${CLOSED}` },
    { step: secrets, table: "adbind_sender_secrets", where: "check_at = 1" },
    { step: idle, table: "adbind_endpoints", where: "endpoint like '%p.idle'" },
    { step: activity, table: "adbind_activity", where: "expires <= 1" },
    { step: beyond, table: "adbind_activity", where: "subject = 'beyond'" },
    { step: tasks, table: "adbind_sent_tasks", where: "expires = 1" },
    { step: dedup, table: "adbind_dedup" },
    { step: caps, table: "adbind_jobs", where: "key like 'waits-%' and state = 'ready'" },
    { step: dead, table: "adbind_jobs", where: "key like 'dead-%'" },
  ],
  breaches: [
    { table: "adbind_coalescing", how: "delete", fails: [coalesced] },
    { table: "adbind_coalescing", how: "gone", fails: [coalesced, look, setBack] },
    { table: "adbind_channels", how: "update", fails: [proofs, reports] },
    {
      table: "adbind_channels",
      how: "update",
      when: "new.config not like '%moved%' and new.kind = 'account'",
      fails: [proofs],
    },
    { table: "adbind_channels", how: "delete", fails: [closed] },
    { table: "adbind_channels", how: "gone", fails: [closed, coalesced, look, proofs, reports, secrets, setBack] },
    { table: "adbind_sender_secrets", how: "delete", fails: [secrets] },
    { table: "adbind_sender_secrets", how: "update", fails: [secrets] },
    { table: "adbind_sender_secrets", how: "gone", fails: [look, secrets] },
    { table: "adbind_jobs", how: "insert", fails: [coalesced, reports] },
    { table: "adbind_jobs", how: "update", fails: [caps] },
    { table: "adbind_jobs", how: "delete", fails: [dead] },
    {
      table: "adbind_jobs",
      how: "gone",
      fails: [caps, coalesced, dead, most, reports, secrets, idle, tasks],
      only: "postgres",
    },
    { table: "adbind_endpoints", how: "delete", when: "old.endpoint like '%p.idle'", fails: [idle] },
    { table: "adbind_endpoints", how: "gone", fails: [caps, idle], also: { sqlite: [coalesced, reports] } },
    { table: "adbind_activity", how: "delete", fails: [activity, beyond] },
    // By days, what expires is deleted from the default partition alone.
    { table: "adbind_activity", how: "gone", fails: [activity, beyond, look], only: "sqlite" },
    { table: "adbind_activity", how: "gone", fails: [alarms, beyond], waits: [activity], only: "postgres" },
    { table: "adbind_activity_default", how: "gone", fails: [activity, look], only: "postgres" },
    { table: "adbind_sent_tasks", how: "delete", fails: [tasks] },
    { table: "adbind_sent_tasks", how: "gone", fails: [look, secrets, tasks] },
    { table: "adbind_dedup", how: "delete", fails: [dedup] },
    { table: "adbind_dedup", how: "gone", fails: [dedup, look] },
  ],
  async fill(store, engine) {
    const hook = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };
    const reporting = JSON.stringify({ ...hook, reporting_frequency: "hourly" });
    const moved = {
      ...hook,
      subscriber_id: "s",
      event_types: [],
      active: true,
      proven: false,
      moved: true,
      revision: "1",
    };
    const columns = "resource, kind, subscriber, principal, config, period_start, next_fire, closed, closed_at";
    const channel = `insert into adbind_channels (${columns}) values `;
    const again =
      "on conflict (resource, kind, subscriber) do update set next_fire = excluded.next_fire, config = excluded.config, " +
      "period_start = excluded.period_start";
    await addJobs(store);
    await rows(store, [
      `insert into adbind_endpoints (topic, endpoint, failing_since${engine.name === "sqlite" ? ", ready_at" : ""}) values ` +
        `('${OUTBOX_TOPIC}', 'https://slow.example p.idle', 1${engine.name === "sqlite" ? ", 9000000000000000" : ""}) on conflict do nothing`,
      "update adbind_jobs set state = 'dead', due = 1 where key like 'dead-%'",
      `${channel} ('mb-1', 'reporting', '', 'p', '${reporting}', ${NOW}, ${NOW + HOUR_MS}, 0, null) ${again}`,
      `${channel} ('mb-1', 'events', '', 'p', '${JSON.stringify(hook)}', null, null, 0, null) ${again}`,
      `${channel} ('a-1', 'account', 's', 'p', '${JSON.stringify(moved)}', null, 1, 0, null) ${again}`,
      `${channel} ('mb-2', 'events', '', 'p', 'null', null, null, ${CLOSED}, 1) ${again}`,
      `insert into adbind_coalescing values ('mb-1', 'x', 'n-1', 'impairment', '{}', 1)`,
      "insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires, revision) " +
        "values ('t', 'p', 'x', 'completed', '2026', '{}', 1, 0)",
      secret(taskRegistration("push", "t"), "order-none"),
      secret(channelRegistration({ resource: "mb-2", kind: "events", subscriber: "" }), "order-waits"),
      secret(channelRegistration({ resource: "mb-1", kind: "events", subscriber: "" }), "order-none"),
      ...["('p', 's', '{}', 1)", ...["beyond", "1", "2", "3"].map((one) => `('p', '${one}', '{}', ${NOW * 2})`)].map(
        (values) => `insert into adbind_activity (principal, subject, record, expires) values ${values}`,
      ),
      "insert into adbind_dedup (task_id, dedup_key, digest, keys, expires) values ('t', 'k', 'd', '[]', 1)",
    ]);
  },
  async start(store, logger) {
    const clock = { at: NOW + 2 * HOUR_MS };
    const network = new FakeNetwork(clock);
    network.react = listening;
    const made = await createSender({
      ...optionsFor(clock, network),
      store: store as SqliteStore,
      logger,
      reports: () => ({ currency: "EUR", media_buy_deliveries: [] }),
      retention: { activityRows: 3 },
      agentUrl: "https://seller.example/agent",
    });
    made.start();
    return {
      // What was asked in vain is asked again after a while only.
      async next() {
        clock.at += AGAIN_MS;
      },
      // Behind what is still to be sent, an event of the next breach would not touch its endpoint.
      done: async () =>
        !(await isLeft(store, { table: "adbind_jobs", where: "state = 'ready' and key not like 'waits-%'" })),
      stop: () => made.stop(),
    };
  },
};

const fetched = "fetch the keys of secrets again";
const source = { away: false };

export const secretKeysKept: World = {
  name: "keeper of secrets' keys",
  only: "sqlite",
  kinds: [],
  breaches: [
    {
      what: "keys that cannot be fetched",
      async make() {
        source.away = true;
        return async () => {
          source.away = false;
        };
      },
      fails: [fetched],
    },
  ],
  fill: async () => undefined,
  async start(_store, log) {
    const begun = { yet: false };
    const vault = () => {
      if (begun.yet && source.away) throw new Error("the vault is sealed");
      return secretKeys;
    };
    const keyring = await createKeyring(vault, { refreshMs: 20 });
    begun.yet = true;
    return restarted(createPeriodic({ pauseMs: 5, steps: [keysStep(keyring, 0)], telling: tellLog(log) }));
  },
};

const opened = "open the databases that could not be used";
const files = [freshFile(), freshFile()] as const;

/** A folder where a database's file was: it cannot be opened. */
async function takenAway(): Promise<() => Promise<void>> {
  await rename(files[1], `${files[1]}.away`);
  await mkdir(files[1]);
  return async () => {
    await rmdir(files[1]);
    await rename(`${files[1]}.away`, files[1]);
  };
}

const databases = () => files.map((file, at) => ({ name: `${at}`, database: () => openDatabase(`sqlite:${file}`) }));

export const senderOnSeveral: World = {
  name: "sender on several databases",
  only: "sqlite",
  kinds: [],
  breaches: [{ what: "a database that cannot be opened", make: takenAway, fails: [opened] }],
  async fill() {
    const change = splitChange({ kind: "principal", databases: databases() });
    await change.init();
    await change.close();
  },
  async start(_store, logger) {
    const store = await shardedByPrincipal(databases());
    const clock = { at: NOW };
    const made = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store, logger });
    made.start();
    return {
      ...soon,
      done: async () => (await made.health()).ok,
      async stop() {
        await made.stop();
        await store.close();
      },
    };
  },
};
