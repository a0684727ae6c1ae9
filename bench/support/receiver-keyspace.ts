/** What a dedup claim costs as the keyspace grows, beside a bare insert of the same row into the same table. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type Database from "better-sqlite3";
import { Writer } from "../../runtime/db/sqlite/writer.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { sqliteClaims } from "../../runtime/store/sqlite/claims.js";
import { median } from "./measure.js";
import { progressOf } from "./progress.js";
import type { Row } from "./row.js";

/** Claims that share a commit, as those of so many connections do. */
const TOGETHER = 64;
/** Several checkpoints a round: their cost is part of it. */
const CLAIMS_PER_ROUND = TOGETHER * 300;
/** Fewer, for they tell less: what is left of a claim when everything of ours is taken away. */
const INSERTS_PER_ROUND = TOGETHER * 75;
const ROUNDS = 9;
/** Expiries, in milliseconds: of what a round adds, and of what was there before. */
const ADDED = 1_900_000_000_000;
const FILLED = 2_000_000_000_000;
const BETWEEN = 1_950_000_000_000;

const INSERT = "insert into adbind_claims (sender, key, digest, expires) values (1, ?, ?, ?)";

/** Keys of one statement that fills: each is a transaction, and what it writes stands in the log until it ends. */
const FILL_KEYS = 500_000;

/** Fills a keyspace with keys in their order, which is quick, spread as hashes are; SQLite makes them itself. */
function fill(db: Database.Database, keys: number): void {
  db.exec("pragma synchronous = off; insert into adbind_senders (url, live) values ('x', 0)");
  const some = db.prepare(
    "insert into adbind_claims (sender, key, digest, expires) " +
      "with recursive n(i) as (select $from union all select i + 1 from n where i < $to) " +
      `select 1, unhex(printf('%08x%024x', (i << 32) / ${keys}, i)), zeroblob(16), ${FILLED} + i from n`,
  );
  for (let from = 0; from < keys; from += FILL_KEYS) some.run({ from, to: Math.min(keys, from + FILL_KEYS) - 1 });
  db.exec("pragma wal_checkpoint(truncate); pragma synchronous = full");
}

interface Keyspace {
  readonly keys: number;
  /** Microseconds of a claim, commit and checkpoints included. */
  claims(): Promise<number>;
  /** The same of a bare insert. */
  inserts(): number;
  close(): Promise<void>;
}

/** A keyspace of `keys` live claims, and ways to add to it; what they add goes again, untimed, so that it keeps its size. */
async function openKeyspace(where: string, keys: number): Promise<Keyspace> {
  const database = path.join(where, `claims-${keys}.db`);
  const first = openSqliteStore({ path: database });
  fill(first.db, keys);
  await first.close();
  const store = openSqliteStore({ path: database });
  const { db } = store;
  const writer = new Writer(db);
  const claims = sqliteClaims(writer, (now) => now);
  const digest = new Uint8Array(16);
  const insert = db.prepare(INSERT);
  let n = 0;
  const one = (): Promise<unknown> => {
    n += 1;
    const event = { key: `bench-key-${keys}-${n}` } as never;
    const arrival = { event, digest, now: ADDED + n, windowSeconds: 86_400, senderCap: 1e9, registered: true };
    return writer.write(() => claims.claim(1, arrival));
  };
  return {
    keys,
    async claims() {
      const started = performance.now();
      for (let i = 0; i < CLAIMS_PER_ROUND; i += TOGETHER) await Promise.all(Array.from({ length: TOGETHER }, one));
      const cost = ((performance.now() - started) / CLAIMS_PER_ROUND) * 1_000;
      await writer.write(() => claims.expire(BETWEEN, CLAIMS_PER_ROUND));
      return cost;
    },
    inserts() {
      const started = performance.now();
      for (let i = 0; i < INSERTS_PER_ROUND; i += TOGETHER) {
        db.exec("begin immediate");
        for (let at = 0; at < TOGETHER; at++) insert.run(randomBytes(16), digest, ADDED + i + at);
        db.exec("commit");
      }
      const cost = ((performance.now() - started) / INSERTS_PER_ROUND) * 1_000;
      db.exec(`delete from adbind_claims where expires < ${BETWEEN}`);
      return cost;
    },
    close: () => store.close(),
  };
}

/**
 * Round by round in turn, so that a busy spell of the machine falls on all sizes.
 * @param sizes keys of each keyspace, growing; the first and the last make the figure
 */
export async function keyspaceRows(sizes: readonly number[]): Promise<Row[]> {
  const where = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  const spaces: Keyspace[] = [];
  const tell = progressOf("keys");
  for (const keys of sizes) {
    spaces.push(await openKeyspace(where, keys));
    tell(`${keys.toLocaleString("en")} keys are there`);
  }
  const costs = new Map(sizes.map((keys) => [keys, { claims: [] as number[], inserts: [] as number[] }]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const space of spaces) {
      const [claims, inserts] = [await space.claims(), space.inserts()];
      if (round < 0) continue;
      costs.get(space.keys)!.claims.push(claims);
      costs.get(space.keys)!.inserts.push(inserts);
    }
    tell(round < 0 ? "warming up" : `round ${round + 1} of ${ROUNDS}`);
  }
  for (const space of spaces) await space.close();
  rmSync(where, { recursive: true });

  const [small, large] = [sizes[0]!, sizes.at(-1)!];
  const each = (side: "claims" | "inserts", keys: number): number => median(costs.get(keys)![side]);
  const growth = (side: "claims" | "inserts"): number =>
    median(costs.get(large)![side].map((cost, round) => cost / costs.get(small)![side][round]!));
  const us = (side: "claims" | "inserts", keys: number): string => `${each(side, keys).toFixed(1)} us`;
  const line = (name: string, side: "claims" | "inserts") => ({
    name,
    points: sizes.map((keys) => [keys, each(side, keys)] as const),
  });
  return [
    {
      name: `dedup insert among ${large.toExponential(0)} keys, times that among ${small.toExponential(0)}`,
      value: growth("claims"),
      unit: "x",
      target: { max: 2 },
      floor: { of: "what a bare insert grows by", times: growth("claims") / growth("inserts") },
      note: `${us("claims", large)} against ${us("claims", small)}, bare inserts ${us("inserts", large)} and ${us("inserts", small)}, commit included`,
      curves: [
        {
          name: "dedup",
          title: "Dedup insert as the keyspace grows, SQLite",
          x: { label: "live keys", log: true },
          y: { label: "each, commit included, microseconds" },
          lines: [line("claim", "claims"), line("bare insert", "inserts")],
        },
      ],
    },
  ];
}
