/**
 * A seller's process for the faults run: makes events and delivers them until it is killed. What it made is noted in the
 * transaction that makes it, so that the note and the event cannot disagree.
 */
import { readFileSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { release } from "../../generated/3.1.0/index.js";
import type { AnyDatabase } from "../../runtime/db/open.js";
import { openPostgres, type PostgresTx } from "../../runtime/db/postgres/open.js";
import { openSqlite } from "../../runtime/db/sqlite/open.js";
import { AdbindError } from "../../runtime/errors.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore, openSqliteStore, shardedByPrincipal } from "../../runtime/store/index.js";
import { NAMES } from "../split/databases.js";

interface Plan {
  readonly store: string;
  /** Databases of a split, by the names of a split of tests. */
  readonly databases?: readonly string[];
  /** Servers that hand events out, where it is not the database. */
  readonly queue?: string;
  readonly clockFile: string;
  readonly urls: readonly string[];
  readonly name: string;
  /** Tasks this process may make. */
  readonly tasks: number;
  readonly privateJwk: object;
}

const plan = JSON.parse(process.argv[2]!) as Plan;
const EVENTS_PER_TASK = 3;
/** Of a split: enough that some move whenever a database comes or goes. */
const PRINCIPALS = 12;
/** Before the next try, where the database is away, in milliseconds; and how often. */
const AWAY_MS = 300;
const OPEN_TRIES = 60;

const net = { allowHttp: true, allowLoopback: true };
const options = {
  release,
  signer: { key: plan.privateJwk, keyid: "k" },
  net,
  // The name tells the receivers whom to kill.
  fetch: createGuardedFetch({ ...net, userAgent: plan.name }),
  now: () => Date.now() + Number(readFileSync(plan.clockFile, "utf8")),
  // Pauses as in production last a minute; the run has less time than that.
  worker: { pauseMs: 1_000, maxPauseMs: 3_000 },
};

/** No server's clock jumps with ours: the relay finds what is due then, later than what was killed has to be back. */
const RESEND_MS = 20_000;
const onNats = (servers: string) => natsQueue({ servers, resendMs: RESEND_MS });

const isSqlite = plan.store.startsWith("/");

async function open(): Promise<{
  sender: Sender;
  note: (tx: never, row: readonly string[]) => unknown;
  all: (principal: string, work: (tx: never) => unknown) => Promise<void>;
}> {
  if (plan.databases !== undefined) return openSplit(plan.databases);
  if (isSqlite) {
    const store = openSqliteStore({ path: plan.store, busyTimeoutMs: 20_000 });
    const insert = store.db.prepare("insert into app_events values (?, ?, ?)");
    const sender = await createSender({ ...options, store });
    return {
      sender: sender as never,
      note: (_tx, row) => insert.run(...row),
      all: async (_principal, work) => {
        store.db.transaction(() => void work(store.db as never)).immediate();
      },
    };
  }
  const store = await openPostgresStore({ url: plan.store, connections: 6 });
  const sender = await createSender({
    ...options,
    store,
    ...(plan.queue !== undefined && { queue: onNats(plan.queue) }),
  });
  return {
    sender: sender as never,
    note: (tx, row) => (tx as PostgresTx).query("insert into app_events values ($1, $2, $3)", [...row]),
    all: (_principal, work) =>
      store.database.transaction(async (tx) => {
        await work(tx as never);
      }),
  };
}

/** The same on several databases: a transaction is of the one that has the principal. */
async function openSplit(urls: readonly string[]): ReturnType<typeof open> {
  const databases = urls.map((url, at) => ({
    name: NAMES[at]!,
    database: async (): Promise<AnyDatabase> =>
      url.startsWith("sqlite:")
        ? openSqlite({ path: url.slice("sqlite:".length), busyTimeoutMs: 20_000 })
        : openPostgres({ url, connections: 4 }),
  }));
  const store = await shardedByPrincipal(databases);
  const sender = await createSender({ ...options, store });
  return {
    sender,
    note: (tx, row) =>
      "prepare" in (tx as object)
        ? (tx as Database).prepare("insert into app_events values (?, ?, ?)").run(...row)
        : (tx as PostgresTx).query("insert into app_events values ($1, $2, $3)", [...row]),
    async all(principal, work) {
      const database = (await store.databaseOf(principal)) as AnyDatabase;
      if (database.engine === "postgres") await database.transaction(async (tx) => void (await work(tx as never)));
      else database.file.transaction(() => void work(database.file as never)).immediate();
    },
  };
}

/** A process that comes up while its database is away: whoever runs it starts it again. */
async function opened(): ReturnType<typeof open> {
  for (let tries = 0; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (tries === OPEN_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    }
  }
}

const { sender, note, all } = await opened();
sender.start();

/** A principal that moves is written where it is then: nothing was, where this is said. */
async function again<T>(work: () => T): Promise<Awaited<T>> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AdbindError) || !error.code.startsWith("split_")) throw error;
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    }
  }
}

async function makeTask(index: number): Promise<void> {
  const taskId = `${plan.name}-${index}`;
  // In turn, each process from another one on, the first from the one that is never there: few kills reach every receiver too.
  const url = plan.urls[(Number(plan.name.slice(1)) + index + plan.urls.length - 2) % plan.urls.length]!;
  const principal = plan.databases === undefined ? "p" : `https://buyer-${index % PRINCIPALS}.example/agent`;
  await again(() =>
    sender.tasks.register(
      { taskId, tool: "create_media_buy", status: "submitted", principal },
      { push: { url, operation_id: taskId } },
    ),
  );
  for (let n = 1; n <= EVENTS_PER_TASK; n++) {
    const status = n === EVENTS_PER_TASK ? "canceled" : "working";
    await again(() =>
      all(principal, (tx) => {
        const emitted = sender.tasks.update(taskId, { status, message: String(n) }, { tx, principal });
        if (!(emitted instanceof Promise)) return note(tx, [emitted.keys[0]!, taskId, String(n)]);
        return emitted.then(({ keys }) => note(tx, [keys[0]!, taskId, String(n)]));
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

for (let index = 0; index < plan.tasks; index++) {
  await makeTask(index).catch(async (error: unknown) => {
    console.error(plan.name, String(error));
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
}
