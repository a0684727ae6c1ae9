/** Secrets of registrations, sealed: a row for each, apart from tasks and channels so that those stay narrow. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query, Value } from "../db/types.js";

export interface SecretRow {
  /** Name of the registration: JSON. */
  readonly registration: string;
  readonly principal: string;
  readonly key_id: string;
  /** Base64url: text travels alike through every library an application may have. */
  readonly box: string;
  /** Name of the endpoint its events go to, and their ordering key. */
  readonly endpoint: string;
  readonly ordering_key: string;
  /** When it is looked whether it is needed still, unix milliseconds. */
  readonly check_at: number;
}

export interface SecretTables {
  putSecrets(tx: Query, rows: readonly SecretRow[]): Coroutine<void>;
  dropSecrets(tx: Query, registrations: readonly string[]): Coroutine<number>;
  secretsOf(tx: Query, registrations: readonly string[]): Coroutine<SecretRow[]>;
  /** Has them looked at, at a time. */
  checkSecrets(tx: Query, registrations: readonly string[], at: number): Coroutine<number>;
  /** Those that are to be looked at, locked; without those that another transaction holds. */
  dueSecrets(tx: Query, now: number, limit: number): Coroutine<SecretRow[]>;
  /** Ordering keys under which there still are events, of those given: they wait, at whatever endpoint, or are kept. */
  orderedJobs(tx: Query, topic: string, orderingKeys: readonly string[]): Coroutine<{ ordering_key: string }[]>;
  /** Rows by name, after one. */
  secretsAfter(tx: Query, after: string, limit: number): Coroutine<SecretRow[]>;
  /** Puts another box in the place of one. @returns rows changed: none where somebody else was faster */
  resealSecret(tx: Query, row: SecretRow, box: Pick<SecretRow, "key_id" | "box">): Coroutine<number>;
  countSecrets(tx: Query): Coroutine<{ key_id: string; n: number }[]>;
}

const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");

const columns = [
  "registration",
  "principal",
  "key_id",
  "box",
  "endpoint",
  "ordering_key",
  "check_at",
] as const satisfies readonly (keyof SecretRow)[];

const orderedJobs: SecretTables["orderedJobs"] = function* (tx, topic, orderingKeys) {
  if (orderingKeys.length === 0) return [];
  const among = `topic = ? and ordering_key in (${marks(orderingKeys)})`;
  // Each half has its index. What was attempted may wait where its registration was before it moved.
  return yield* tx.rows(
    `select ordering_key from adbind_jobs where ${among} and state = 'ready' and attempts = 0 union
      select ordering_key from adbind_jobs where ${among} and (state <> 'ready' or attempts > 0)`,
    [topic, ...orderingKeys, topic, ...orderingKeys],
  );
};

/** @param lock for rows of which those are left that another transaction holds */
export const secretTables = (lock: string): SecretTables => ({
  *putSecrets(tx, rows) {
    if (rows.length === 0) return;
    yield* tx.run(
      `insert into adbind_sender_secrets (${columns.join(", ")}) values ` +
        `${rows.map(() => `(${marks(columns)})`).join(", ")} on conflict (registration) do update set ` +
        columns
          .slice(1)
          .map((column) => `${column} = excluded.${column}`)
          .join(", "),
      rows.flatMap((row) => columns.map((column): Value => row[column])),
    );
  },
  *dropSecrets(tx, names) {
    if (names.length === 0) return 0;
    return yield* tx.run(`delete from adbind_sender_secrets where registration in (${marks(names)})`, names);
  },
  *secretsOf(tx, names) {
    if (names.length === 0) return [];
    return yield* tx.rows<SecretRow>(
      `select * from adbind_sender_secrets where registration in (${marks(names)})`,
      names,
    );
  },
  *checkSecrets(tx, names, at) {
    if (names.length === 0) return 0;
    return yield* tx.run(`update adbind_sender_secrets set check_at = ? where registration in (${marks(names)})`, [
      at,
      ...names,
    ]);
  },
  dueSecrets: (tx, now, limit) =>
    tx.rows<SecretRow>(`select * from adbind_sender_secrets where check_at <= ? order by check_at limit ?${lock}`, [
      now,
      limit,
    ]),
  orderedJobs,
  secretsAfter: (tx, after, limit) =>
    tx.rows<SecretRow>("select * from adbind_sender_secrets where registration > ? order by registration limit ?", [
      after,
      limit,
    ]),
  resealSecret: (tx, row, { key_id, box }) =>
    tx.run("update adbind_sender_secrets set key_id = ?, box = ? where registration = ? and box = ?", [
      key_id,
      box,
      row.registration,
      row.box,
    ]),
  countSecrets: (tx) =>
    tx.rows("select key_id, count(*) as n from adbind_sender_secrets group by key_id order by key_id"),
});
