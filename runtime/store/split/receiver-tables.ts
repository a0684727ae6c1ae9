/** What of a receiver's tables is one sender's. */
import type { Coroutine } from "../../db/coroutine.js";
import type { AnyDatabase } from "../../db/open.js";
import type { Database, Query, Value } from "../../db/types.js";
import { senderOfKeyid } from "../keys.js";
import { keyspaceCountsOf } from "../stores.js";
import { type CopiedRows, putRows, removeRows } from "./copy.js";
import { copiedNonces, isPrincipalKey, keysOf, numberOf, removeNonces } from "./nonce-rows.js";
import type { KeyspaceTables } from "./tables.js";

/** Bodies copied at once: with the largest that is taken, tens of megabytes. */
const INBOX_ROWS = 40;

const milliseconds = { column: "expires", perSecond: 1000 };

const taskState = ["instant", "status", "terminal", "missed", "expires"] as const;

/** Tables that name the sender by its number. */
const numbered = [
  { table: "adbind_claims", keys: ["key"], rest: ["digest", "expires"] },
  { table: "adbind_tasks", keys: ["task_id"], rest: ["operation_id", ...taskState] },
  { table: "adbind_task_operations", keys: ["task_id", "operation_id"], rest: taskState },
  { table: "adbind_notifications", keys: ["notification_id"], rest: ["expires"] },
] as const;

const registration = {
  table: "adbind_registrations",
  keys: ["route", "operation_id"],
  rest: ["kind", "mode", "format", "task_type", "token_digest", "release", "events", "expires"],
  unique: ["route", "operation_id"],
  expires: milliseconds,
};

const inboxColumns = [
  ...["state", "sender", "key", "route", "kind", "release", "format", "task_type", "task_id", "operation_id", "status"],
  ...["instant", "notification_id", "reemission", "received_at", "attempts", "due", "owner", "error", "notes"],
  ...["traceparent", "token_digest", "ordering_key", "body"],
];

const senderId = (q: Query, sender: string): Coroutine<number> => numberOf(q, "adbind_senders", "url", sender);

/** A database as its engine's own statements need it. */
const engineOf = (database: Database): AnyDatabase["engine"] => database.engine as AnyDatabase["engine"];

export const receiverTables: KeyspaceTables = {
  async rows(from, to, sender) {
    const ours = await from.write((q) => senderId(q, sender));
    const theirs = await to.write((q) => senderId(q, sender));
    const owner = { column: "sender", from: ours, to: theirs };
    const nonces = await copiedNonces(from, to, sender);
    return [
      ...numbered.map((one): CopiedRows => ({ ...one, owner, unique: ["sender", ...one.keys], expires: milliseconds })),
      { ...registration, owner: { column: "sender", from: sender, to: sender } },
      ...nonces,
    ];
  },

  async copyFenced({ from, to, change, goOn }, sender) {
    const ours = await from.write((q) => senderId(q, sender));
    const theirs = await to.write((q) => senderId(q, sender));
    const remove = "delete from adbind_inbox where sender = ?";
    await change(function* (q) {
      yield* q.run(remove, [theirs]);
    });
    let after = 0;
    let copied = 0;
    for (;;) {
      goOn();
      const text = `select id, ${inboxColumns.join(", ")} from adbind_inbox where sender = ? and id > ? order by id limit ${INBOX_ROWS}`;
      const rows = await from.query((q) => q.rows<Record<string, Value>>(text, [ours, after]));
      if (rows.length === 0) break;
      // In their order: events of one task go by their numbers, here as there.
      const values = rows.map((row) => inboxColumns.map((column) => (column === "sender" ? theirs : row[column]!)));
      await change((q) => putRows(q, { table: "adbind_inbox", columns: inboxColumns }, values));
      after = rows.at(-1)!.id as number;
      copied += rows.length;
    }
    const keys = await to.query((q) => keysOf(q, sender));
    const sharded = await from.query((q) => keyspaceCountsOf(engineOf(from)).sharded(q, ours));
    await change((q) =>
      keyspaceCountsOf(engineOf(to)).recount(q, { sender: theirs, nonceKeys: keys.map(({ id }) => id) }, sharded),
    );
    return copied;
  },

  *countFenced(q, sender) {
    const text = "select count(*) as n from adbind_inbox i join adbind_senders s on s.id = i.sender where s.url = ?";
    const [row] = yield* q.rows<{ n: number }>(text, [sender]);
    return row!.n;
  },

  async remove(database, change, sender) {
    const own = await database.write((q) => senderId(q, sender));
    const keys = await database.query((q) => keysOf(q, sender));
    const owner = { column: "sender" };
    await removeRows(database, change, { table: "adbind_inbox", owner, value: own, keys: ["id"] });
    for (const { table, keys } of numbered) await removeRows(database, change, { table, owner, value: own, keys });
    await removeRows(database, change, { ...registration, owner, value: sender });
    await removeNonces(database, change, keys);
    await change((q) =>
      keyspaceCountsOf(engineOf(database)).recount(q, { sender: own, nonceKeys: keys.map(({ id }) => id) }, false),
    );
  },

  /** Of a database that was alone until now: whoever has a registration, an event or a nonce. */
  *keyspaces(q) {
    const rows = yield* q.rows<{ name: string }>(
      "select url as name from adbind_senders union select sender as name from adbind_registrations",
    );
    const keys = yield* q.rows<{ keyid: string }>("select keyid from adbind_nonce_keys where keyid <> ''");
    // Keys of callers are their principals'.
    const others = keys.filter(({ keyid }) => !isPrincipalKey(keyid));
    return [...new Set([...rows.map(({ name }) => name), ...others.map(({ keyid }) => senderOfKeyid(keyid))])];
  },
};
