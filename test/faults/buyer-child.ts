/**
 * A buyer to be killed: `node buyer-child.ts <store url> <port> <plan as JSON>`; it begins at the first byte on its standard input.
 * It carries on what one before it left, orders, answers what is asked, and writes each end down once.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer, createCompletions } from "../../runtime/buyer/index.js";
import type { CallResult } from "../../runtime/buyer/types.js";
import type { Answer, AnyArms, Failure, JsonObject } from "../../runtime/contract/index.js";
import type { Database } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { createReceiver, nodeListener, type ReceivedEvent } from "../../runtime/receiver/index.js";
import { staticKeys } from "../../runtime/signing/index.js";
import { documentStore, openStore } from "../../runtime/store/index.js";
import { order } from "../buyer/fixtures.js";
import { AGREED_BUDGET, LEFT_TO_HANDLER, WANTED_BUDGET } from "./buyer-books.js";
import { PUBLIC_URL } from "./receiver-fleet.js";
import { called as begun } from "./receiver-victim.js";

interface ChildPlan {
  readonly sellers: readonly { readonly name: string; readonly url: string; readonly jwk: object }[];
  /** There when no more is to be ordered. */
  readonly overFile: string;
}

/** Calls that have not ended, at most: more wait for those. */
const MAX_OPEN = 12;
/** Pauses that are minutes in production last so much less. */
const FASTER = 400;
/** Between two looks for calls of which nothing more was heard. */
const LOOK_MS = 700;

const [url, port, given] = process.argv.slice(2) as [string, string, string];
const { sellers, overFile } = JSON.parse(given) as ChildPlan;
await begun();
/** The database may be starting anew just now. */
async function opened(): ReturnType<typeof openStore> {
  for (;;) {
    try {
      return await openStore(url);
    } catch (error) {
      if (!(error instanceof AdbindError && /^database_(unreachable|busy|failed)/.test(error.code))) throw error;
      await sleep(100);
    }
  }
}
const store = await opened();
const database = store.database as Database;
const intents = documentStore(database);
const completions = createCompletions();
const senders = Object.fromEntries(
  sellers.map(({ name, jwk }) => [name, { keys: staticKeys([jwk as never], { sender: name }) }]),
);

const write = (table: string, row: Readonly<Record<string, string | null>>) => (tx: unknown) =>
  database.within(tx, function* (q) {
    const names = Object.keys(row);
    yield* q.run(`insert into ${table} (${names}) values (${names.map(() => "?")})`, Object.values(row));
  }) as never;

/** What the end was, also where only the handler has what it brought. */
function ofEnd({ status, data }: Answer<AnyArms>): { status: string; buy: string | null } {
  const [error] = status === "failed" ? (data as Failure).errors : [];
  if (error?.source !== "buyer") return { status, buy: buyOf(data) };
  return { status: String((error.details as JsonObject).status), buy: LEFT_TO_HANDLER };
}

const buyOf = (data: unknown): string | null => ((data as JsonObject | undefined)?.media_buy_id as string) ?? null;

const receiver = createReceiver(
  {
    ...{ release, store: store as never, publicUrl: PUBLIC_URL, ignoreHost: true, senders },
    ...{ leaseSeconds: 1, pollMs: 50, backoffMs: 5, maxAttempts: 1_000, logger: pino({ enabled: false }) },
    handlers: completions.through({
      fallback: async ({ taskId, idempotencyKey, body, attempt }: ReceivedEvent) => {
        const chance = Math.random();
        if (chance < 0.2) await sleep(chance * 100);
        if (chance > 0.95 && attempt < 3) throw new Error("on purpose");
        const { status, result } = body as JsonObject;
        return write("handled", { task: taskId, key: idempotencyKey, status: String(status), buy: buyOf(result) });
      },
    }) as never,
  },
  (ms, signal) => sleep(ms / FASTER, undefined, { signal }).catch(() => undefined),
);

/** Keys of calls that this process is at. */
const active = new Set<string | undefined>();

const buyers = sellers.map(({ name, url: agent }) =>
  createBuyer({
    ...{ release, agent, allowLocal: true, intents, timeoutMs: 3_000, pollMs: 100, giveUpMs: 30_000 },
    retry: { attempts: 3, baseMs: 20, totalMs: 3_000 },
    webhooks: { receiver, url: `${PUBLIC_URL}/hooks/${name}`, sender: name, completions },
    ended: ({ args }, end) => write("told", { po: String(args.po_number), ...ofEnd(end) }),
  }),
);

/** Goes on with a call until it has ended, or nothing is heard of it. */
async function carry(made: CallResult<AnyArms>): Promise<void> {
  active.add(made.idempotencyKey);
  try {
    const end = await made.waitForCompletion();
    if (end.status === "input-required") {
      await sleep(Math.random() * 30);
      const packages = [{ ...(order as { packages: JsonObject[] }).packages[0], budget: AGREED_BUDGET }];
      await carry(await made.respond({ packages } as never));
    }
  } finally {
    active.delete(made.idempotencyKey);
  }
}

/** A database that is away is met by the next look. */
const later = (error: Error): void => void (process.env.ADBIND_LOUD && console.error(error));

async function ordering(buyer: (typeof buyers)[number]): Promise<void> {
  const packages = [{ ...(order as { packages: JsonObject[] }).packages[0], budget: WANTED_BUDGET }];
  while (!existsSync(overFile)) {
    const open = await buyer.unfinished.list().catch(() => undefined);
    if (open === undefined || open.length > MAX_OPEN) await sleep(30);
    else {
      const po_number = crypto.randomUUID();
      const key = crypto.randomUUID();
      active.add(key);
      await buyer
        .call("create_media_buy", { ...(order as object), packages, po_number, idempotency_key: key } as never)
        .then((made) => void carry(made as never).catch(later), later);
    }
    await sleep(Math.random() * 60);
  }
}

async function carryingOn(buyer: (typeof buyers)[number]): Promise<void> {
  for (;;) {
    try {
      const left = await buyer.unfinished.list();
      if (left.some(({ idempotencyKey }) => !active.has(idempotencyKey)))
        for (const made of await buyer.resume()) void carry(made).catch(later);
    } catch (error) {
      later(error as Error);
    }
    await sleep(LOOK_MS);
  }
}

receiver.start();
createServer(nodeListener(receiver)).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
for (const buyer of buyers) {
  void carryingOn(buyer);
  void ordering(buyer);
}
// Whoever started it is gone: nothing is left behind.
process.stdin.once("end", () => process.exit()).resume();
