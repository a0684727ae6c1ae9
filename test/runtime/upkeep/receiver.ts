/** A receiver's sweeps, the leases of events while they are handled, and a receiver on a split. */
import { release } from "../../../generated/3.1.0/index.js";
import { openDatabase } from "../../../runtime/db/open.js";
import { createReceiver } from "../../../runtime/receiver/index.js";
import type { ReceiverStore, SqliteStore } from "../../../runtime/store/index.js";
import { splitChange } from "../../../runtime/store/split/change.js";
import { shardedBySender } from "../../../runtime/store/split/receivers.js";
import { NOW } from "../../sender/fixture.js";
import { envelope, PUBLIC_URL } from "../../support/receiver.js";
import { type AnyStore, type Breach, type Engine, type Kind, rows, soon, urlOf, type World } from "./world.js";

const SENDER = "https://seller.example/mcp";
const expired = (what: string): string => `remove expired ${what}`;
const parked = "remove parked events whose registration never came";
const swept = ["claims", "nonces", "tasks", "task_operations", "notifications", "registrations"] as const;

let hours = 0;
/** A later one each time: what it is for what expires is read anew. */
const laterClock = () => {
  hours += 1;
  const at = NOW + hours * 3_600_000;
  return () => at;
};

const options = {
  release,
  senders: { [SENDER]: { keys: { resolve: () => ({ kind: "unknown" }) as never } } },
  publicUrl: PUBLIC_URL,
};

/** @param named the step by what it removes */
const kindsOf = (named: (what: string) => string, parkedStep: string): readonly Kind[] => [
  ...swept.map((what) => ({ step: named(what), table: `adbind_${what}` })),
  { step: parkedStep, table: "adbind_inbox", where: "state = 'parked'" },
];

const breachesOf = (named: (what: string) => string, parkedStep: string): readonly Breach[] => [
  ...swept.map((what) => ({ table: `adbind_${what}`, how: "delete", fails: [named(what)] }) as const),
  { table: "adbind_inbox", how: "update", fails: [parkedStep] },
  ...swept.map((what) => ({ table: `adbind_${what}`, how: "gone", fails: [named(what)] }) as const),
];

const fill = (store: AnyStore, { bytes, no }: Engine): Promise<void> => {
  const blob = bytes("0123456789abcdef");
  return rows(store, [
    `insert into adbind_senders (url) values ('${SENDER}') on conflict do nothing`,
    `insert into adbind_claims values (1, ${blob}, ${blob}, 1)`,
    "insert into adbind_nonce_keys (keyid) values ('k') on conflict do nothing",
    "insert into adbind_nonces values (1, 'n', 1)",
    `insert into adbind_tasks values (1, 't', '2026', 'working', ${no}, null, 1, null)`,
    `insert into adbind_task_operations values (1, 't', 'op', '2026', 'working', ${no}, null, 1)`,
    "insert into adbind_notifications values (1, 'n', 1)",
    "insert into adbind_registrations (route, operation_id, sender, kind, mode, format, expires) " +
      "values ('/r', '', 's', 'task', 'signature', 'mcp', 1)",
    "insert into adbind_inbox (state, sender, key, route, kind, release, reemission, received_at, due, notes, body) " +
      `values ('parked', 1, 'k', '/p', 'task', '3.1.0', ${no}, 1, 1, '[]', ${blob})`,
  ]);
};

export const receiver: World = {
  name: "receiver",
  stores: 2,
  kinds: kindsOf(expired, parked),
  breaches: [
    ...breachesOf(expired, parked),
    { table: "adbind_clock", how: "gone", fails: [...swept.map(expired), parked] },
  ],
  fill,
  start: async (store, logger) => {
    const made = createReceiver({
      ...options,
      store: store as SqliteStore,
      now: laterClock(),
      handlers: { fallback: () => undefined },
      logger,
    });
    made.start();
    return { ...soon, stop: () => made.stop() };
  },
};

const NAME = "one";
const splitRows = `remove expired rows of ${NAME}`;
const splitParked = `${parked}, in ${NAME}`;
const members = (store: AnyStore) => [{ name: NAME, database: () => openDatabase(urlOf(store)) }];
const split = new WeakSet<AnyStore>();

export const receiverOfSplit: World = {
  name: "receiver of a split",
  kinds: kindsOf(() => splitRows, splitParked),
  breaches: [
    ...swept.map((what) => ({
      ...({ table: `adbind_${what}`, how: "delete", fails: [splitRows] } as const),
      // One kind of rows that cannot go keeps none of the others.
      done: swept.filter((other) => other !== what).map((other) => ({ table: `adbind_${other}` })),
    })),
    { table: "adbind_inbox", how: "update", fails: [splitParked] },
    { table: "adbind_claims", how: "gone", fails: [splitRows], only: "postgres" },
  ],
  async fill(store, engine) {
    if (!split.has(store)) {
      const change = splitChange({ kind: "sender", databases: members(store) });
      await change.init();
      await change.close();
      split.add(store);
    }
    await fill(store, engine);
  },
  async start(store, logger) {
    const sharded = await shardedBySender(members(store));
    const made = createReceiver({
      ...options,
      store: sharded as ReceiverStore as SqliteStore,
      now: laterClock(),
      handlers: { fallback: () => undefined },
      logger,
    });
    made.start();
    return {
      ...soon,
      async stop() {
        await made.stop();
        await sharded.close();
      },
    };
  },
};

const leases = "renew the leases of events that are handled";

/** An event whose handler is at work until the receiver is stopped. @param due the second comes later: what was lost is not renewed */
const pending = ({ bytes, no }: Engine, key: string, due: number): string =>
  "insert into adbind_inbox (state, sender, key, route, kind, release, format, task_type, task_id, reemission, " +
  "received_at, due, notes, body) " +
  `values ('pending', 1, '${key}', '/p', 'task', '3.1.0', 'mcp', 'create_media_buy', '${key}', ${no}, 1, ${due}, '[]', ` +
  `${bytes(JSON.stringify(envelope({ task_id: key })))})`;

const LATER_MS = 3_600_000;

export const receiverAtWork: World = {
  name: "receiver at work",
  kinds: [],
  breaches: [{ table: "adbind_inbox", how: "update", when: "new.owner = old.owner", fails: [leases] }],
  fill: (store, engine) =>
    rows(store, [
      `insert into adbind_senders (url) values ('${SENDER}') on conflict do nothing`,
      "delete from adbind_inbox",
      pending(engine, "first", 1),
      pending(engine, "second", NOW + LATER_MS),
    ]),
  async start(store, logger) {
    const ended = Promise.withResolvers<void>();
    const clock = { at: NOW };
    const made = createReceiver({
      ...options,
      store: store as SqliteStore,
      now: () => clock.at,
      handlers: { fallback: () => ended.promise },
      leaseSeconds: 1,
      pollMs: 10,
      logger,
    });
    made.start();
    return {
      async next() {
        clock.at += LATER_MS;
      },
      async stop() {
        ended.resolve();
        await made.stop();
      },
    };
  },
};
