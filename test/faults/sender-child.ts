/**
 * A seller's process for the faults run: makes events and delivers them until it is killed. What it made is noted in the
 * transaction that makes it, so that the note and the event cannot disagree.
 */
import { readFileSync } from "node:fs";
import { release } from "../../generated/3.1.0/index.js";
import type { PostgresTx } from "../../runtime/db/postgres/open.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";

interface Plan {
  readonly store: string;
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
  all: (work: (tx: never) => unknown) => Promise<void>;
}> {
  if (isSqlite) {
    const store = openSqliteStore({ path: plan.store, busyTimeoutMs: 20_000 });
    const insert = store.db.prepare("insert into app_events values (?, ?, ?)");
    const sender = await createSender({ ...options, store });
    return {
      sender: sender as never,
      note: (_tx, row) => insert.run(...row),
      all: async (work) => {
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
    all: (work) =>
      store.database.transaction(async (tx) => {
        await work(tx as never);
      }),
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

async function makeTask(index: number): Promise<void> {
  const taskId = `${plan.name}-${index}`;
  // In turn, each process from another one on, the first from the one that is never there: few kills reach every receiver too.
  const url = plan.urls[(Number(plan.name.slice(1)) + index + plan.urls.length - 2) % plan.urls.length]!;
  await sender.tasks.register(
    { taskId, tool: "create_media_buy", status: "submitted", principal: "p" },
    { push: { url, operation_id: taskId } },
  );
  for (let n = 1; n <= EVENTS_PER_TASK; n++) {
    const status = n === EVENTS_PER_TASK ? "canceled" : "working";
    await all((tx) => {
      const emitted = sender.tasks.update(taskId, { status, message: String(n) }, { tx });
      if (!(emitted instanceof Promise)) return note(tx, [emitted.keys[0]!, taskId, String(n)]);
      return emitted.then(({ keys }) => note(tx, [keys[0]!, taskId, String(n)]));
    });
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
