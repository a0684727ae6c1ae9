/** What of a sender's and a seller's tables is one principal's. */
import type { AnyDatabase } from "../../db/open.js";
import type { Database } from "../../db/types.js";
import { INTENTS } from "../intent-documents.js";
import { callScope, senderOfKeyid } from "../keys.js";
import { keyspaceCountsOf } from "../stores.js";
import { type CopiedRows, type RowChange, removeRows } from "./copy.js";
import { type CopiedLog, copyLog, empty } from "./copy-log.js";
import {
  copiedNonces,
  givenNonces,
  isPrincipalKey,
  keysOf,
  nonceOwner,
  principalOf,
  removeNonces,
} from "./nonce-rows.js";
import { copyJobs, countChanges, countEvents, hastenJobs, leasedJobs, removeJobs } from "./principal-jobs.js";
import type { KeyspaceTables } from "./tables.js";

const expires = { column: "expires", perSecond: 1000 };
const principal = { column: "principal" };

const tasks = {
  table: "adbind_sent_tasks",
  owner: principal,
  keys: ["task_id"],
  rest: ["tool", "status", "instant", "details", "expires", "revision", "push_endpoint", "a2a_endpoint"],
  unique: ["task_id"],
  expires,
} as const;

const dedups = {
  table: "adbind_dedup",
  owner: { among: "task_id in (select t.task_id from adbind_sent_tasks t where t.principal = ?)" },
  keys: ["task_id", "dedup_key"],
  rest: ["digest", "keys", "expires"],
  unique: ["task_id", "dedup_key"],
  expires,
} as const;

const channels = {
  table: "adbind_channels",
  owner: principal,
  keys: ["resource", "kind", "subscriber"],
  rest: ["config", "sequence", "period_start", "next_fire", "closed", "closed_at", "release", "endpoint"],
  unique: ["resource", "kind", "subscriber"],
} as const;

const coalescing = {
  table: "adbind_coalescing",
  owner: {
    among:
      "resource in (select c.resource from adbind_channels c where c.principal = ? and c.kind = 'events' and c.subscriber = '')",
  },
  keys: ["resource", "slot"],
  rest: ["notification_id", "event_type", "payload", "due"],
  unique: ["resource", "slot"],
} as const;

const secrets = {
  table: "adbind_sender_secrets",
  owner: principal,
  keys: ["registration"],
  rest: ["key_id", "box", "endpoint", "ordering_key", "check_at"],
  unique: ["registration"],
} as const;

const calls = {
  table: "adbind_calls",
  owner: { column: "scope" },
  keys: ["key"],
  rest: ["hash", "owner", "lease", "answer", "replay_until", "forget_at", "principal"],
  unique: ["scope", "key"],
  expires: { column: "forget_at", perSecond: 1000 },
} as const;

const sellerTasks = {
  table: "adbind_seller_tasks",
  owner: principal,
  keys: ["task_id"],
  rest: [
    ...["account", "tool", "protocol", "release", "status", "created_at", "updated_at", "completed_at", "has_webhook"],
    ...["context", "context_id", "request", "message", "progress", "result", "resource", "expires"],
    ...["worker", "held_until", "resumptions"],
  ],
  unique: ["task_id"],
  expires,
} as const;

const documents = {
  table: "adbind_documents",
  owner: { column: "owner" },
  keys: ["collection", "id"],
  rest: ["version", "body"],
  unique: ["collection", "owner", "id"],
  position: "position",
} as const;

/** What says whose others are comes before those. */
const all = [tasks, dedups, channels, coalescing, secrets, calls, sellerTasks, documents] as const;

const activity: CopiedLog = {
  table: "adbind_activity",
  owner: "principal",
  group: "subject",
  rest: ["record", "expires"],
};

const ownerIn = (table: string, name: string): string => (table === calls.table ? callScope(name) : name);

/** Of no sender: what is counted beside claims are the nonces of keys. */
const NO_SENDER = -1;

async function recountNonces(database: Database, change: RowChange, keyspace: string): Promise<void> {
  const keys = await database.query((q) => keysOf(q, nonceOwner(keyspace)));
  if (keys.length === 0) return;
  const counted = { sender: NO_SENDER, nonceKeys: keys.map(({ id }) => id) };
  await change((q) => keyspaceCountsOf(database.engine as AnyDatabase["engine"]).recount(q, counted, false));
}

export const principalTables: KeyspaceTables = {
  async rows(from, to, keyspace) {
    const rows = all.map((one): CopiedRows => {
      const value = ownerIn(one.table, keyspace);
      return { ...one, owner: { ...one.owner, from: value, to: value } };
    });
    return [...rows, ...(await copiedNonces(from, to, nonceOwner(keyspace)))];
  },
  copyLogs: (live, keyspace) => copyLog(live, activity, keyspace),
  leased: leasedJobs,
  async copyFenced(copying, keyspace, until) {
    await recountNonces(copying.to, copying.change, keyspace);
    return copyJobs(copying, keyspace, until);
  },
  *countFenced(q, keyspace) {
    const text = `select count(*) as n from ${activity.table} where ${activity.owner} = ?`;
    const [row] = yield* q.rows<{ n: number }>(text, [keyspace]);
    return row!.n + (yield* countEvents(q, keyspace));
  },
  arrived: hastenJobs,
  async remove(database, change, keyspace) {
    await removeJobs(database, change, keyspace);
    await empty({ to: database, change, goOn: () => undefined }, activity, keyspace);
    for (const one of all.toReversed())
      await removeRows(database, change, { ...one, value: ownerIn(one.table, keyspace) });
    await removeNonces(database, change, await database.query((q) => keysOf(q, nonceOwner(keyspace))));
    await recountNonces(database, change, keyspace);
  },
  staysBehind: countChanges,
  *keyspaces(q) {
    const text = ["adbind_sent_tasks", "adbind_channels", "adbind_seller_tasks"]
      .map((table) => `select principal as name from ${table}`)
      .join(" union ");
    const callers = "select principal as name from adbind_calls where principal is not null";
    // What a buyer on the same database intends is no seller's.
    const owners = `select owner as name from adbind_documents where owner <> '' and collection <> '${INTENTS}'`;
    const rows = yield* q.rows<{ name: string }>(`${text} union ${callers} union ${owners}`);
    // Who has only read has used nonces.
    const keys = yield* q.rows<{ keyid: string }>("select keyid from adbind_nonce_keys where keyid <> ''");
    const signers = keys.map(({ keyid }) => senderOfKeyid(isPrincipalKey(keyid) ? principalOf(keyid) : keyid));
    return [...new Set([...rows.map(({ name }) => name), ...signers])];
  },
  *named(q, engine) {
    const nonceKeys = yield* givenNonces(q);
    yield* keyspaceCountsOf(engine).recount(q, { sender: NO_SENDER, nonceKeys }, false);
  },
  *unnamed(q, names, now) {
    const text = "select distinct scope from adbind_calls where principal is null and replay_until > ?";
    const known = new Set(names.map(callScope));
    return (yield* q.rows<{ scope: string }>(text, [now])).filter(({ scope }) => !known.has(scope)).length;
  },
};
