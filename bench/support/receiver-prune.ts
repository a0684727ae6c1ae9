/** How long a request waits while what has expired is removed, beside how long it waits when nothing is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import type { Release } from "../../runtime/contract/index.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { type AnyStore, openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { startPostgres } from "../../test/support/postgres.js";
import { median } from "./measure.js";
import { progressOf } from "./progress.js";
import { keySource, makeKeys, PUBLIC_URL, ROUTE, SENDER, signedEvent } from "./receiver-events.js";
import type { Row } from "./row.js";

/** Longest wait that pruning may cost a request, in milliseconds. */
const TARGET_MS = 50;
/** Requests of the comparison, one after the other. */
const ALONE = 4_000;
/** Longest time that is looked at, in milliseconds: a slow disk does not remove a million in less. */
const LOOKED_AT_MS = 120_000;

/** Rows of one statement: a store gives up those that take long. */
const FILL_ROWS = 50_000;

const fills = {
  sqlite: (from: number, to: number) =>
    `insert into adbind_claims with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) ` +
    "select 1, randomblob(16), randomblob(16), i from n",
  postgres: (from: number, to: number) =>
    "insert into adbind_claims (sender, key, digest, expires) select 1, decode(md5(i::text), 'hex'), " +
    `decode(md5(i::text), 'hex'), i from generate_series(${from}, ${to}) i`,
};

async function fill({ database }: AnyStore, rows: number): Promise<void> {
  for (let from = 1; from <= rows; from += FILL_ROWS) {
    await database.execute(fills[database.engine](from, Math.min(rows, from + FILL_ROWS - 1)));
  }
}

const many = (count: number): string => count.toLocaleString("en");

interface Pruned {
  /** Milliseconds of each request, while nothing was removed and while something was. */
  readonly alone: number[];
  readonly beside: number[];
  readonly seconds: number;
  /** Rows that were removed meanwhile. */
  readonly removed: number;
}

async function prunes(store: AnyStore, rows: number): Promise<Pruned> {
  const tell = progressOf(`prune, ${store.database.engine}`);
  const { privateKey, jwk } = makeKeys();
  const receiver = createReceiver({
    ...{ store: store as never, release: release as Release, publicUrl: PUBLIC_URL },
    senders: { [SENDER]: { keys: keySource(jwk) } },
    ...{ senderCap: 100_000_000, logger: pino({ level: "error" }), handlers: { fallback: () => undefined } },
  });
  await receiver.expect({ route: ROUTE, sender: SENDER, kind: "task" });
  const ask = async (): Promise<number> => {
    const request = { method: "POST", target: ROUTE, ...signedEvent(privateKey) };
    const begun = performance.now();
    const { status } = await receiver.handle(request);
    if (status !== 200) throw new Error(`answered ${status}`);
    return performance.now() - begun;
  };
  const expired = (what: string, limit: string) =>
    store.database.query((q) => q.rows<{ n: number }>(`${what} adbind_claims where expires <= ${rows} ${limit}`));
  receiver.start();
  const alone: number[] = [];
  for (let at = 0; at < ALONE + 20; at += 1) {
    const ms = await ask();
    if (at >= 20) alone.push(ms);
  }
  await receiver.idle();
  // Nothing is to be removed before all of it is there.
  await receiver.stop();
  tell(`${many(ALONE)} requests alone`);
  await fill(store, rows);
  tell(`${many(rows)} expired keys are there`);
  receiver.start();
  const beside: number[] = [];
  const begun = performance.now();
  do for (let at = 0; at < 50; at += 1) beside.push(await ask());
  while (performance.now() - begun < LOOKED_AT_MS && (await expired("select 1 from", "limit 1")).length > 0);
  const seconds = (performance.now() - begun) / 1000;
  await receiver.stop();
  tell("they are removed");
  const [left] = await expired("select count(*) as n from", "");
  return { alone, beside, seconds, removed: rows - Number(left!.n) };
}

const rowOf = (engine: string, rows: number, { alone, beside, seconds, removed }: Pruned): Row => {
  const longest = Math.max(...beside);
  const usual = Math.max(...alone);
  return {
    name: `longest request while ${many(rows)} expired keys are removed, ${engine}`,
    value: longest,
    unit: "ms",
    target: { max: TARGET_MS },
    floor: { of: "the longest when nothing is removed", times: longest / usual },
    note: `median ${median(beside).toFixed(1)} ms, without ${median(alone).toFixed(1)} ms and ${usual.toFixed(1)} ms; ${many(beside.length)} requests and ${many(removed)} keys removed in ${seconds.toFixed(0)} s`,
  };
};

const engines = {
  async sqlite(rows: number): Promise<Row> {
    const folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
    const store = openSqliteStore({ path: path.join(folder, "prune.db") });
    try {
      return rowOf("SQLite", rows, await prunes(store, rows));
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  },
  async postgres(rows: number): Promise<Row> {
    const cluster = await startPostgres();
    try {
      const store = await openPostgresStore({ url: await cluster.database() });
      // The cluster waits for its connections to end, also after a failure.
      return rowOf("PostgreSQL", rows, await prunes(store, rows).finally(() => store.close()));
    } finally {
      await cluster.stop();
    }
  },
};

/**
 * @param rows expired keys at the beginning
 * @param only one engine; both without it
 */
export async function pruneRows(rows: number, only?: string): Promise<Row[]> {
  const measured: Row[] = [];
  for (const [engine, measure] of Object.entries(engines)) {
    if (only === undefined || only === engine) measured.push(await measure(rows));
  }
  return measured;
}
