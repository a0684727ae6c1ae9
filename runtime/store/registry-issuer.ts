/** What the embedded issuer remembers: its tokens, codes and sessions. */
import type { Database } from "../db/types.js";

export type ColumnValue = string | number | null;

/** Runs one statement and answers its rows. */
export type RunStatement = <Row>(text: string, values: readonly ColumnValue[]) => Promise<Row[]>;

/** What the embedded issuer keeps under one id. */
export interface IssuerRow {
  readonly payload: string;
  readonly consumed: number | null;
}

/** One record of the embedded issuer. */
export interface IssuerRecord {
  readonly model: string;
  readonly id: string;
  readonly payload: string;
  readonly grantId: string | null;
  readonly uid: string | null;
  readonly expires: number | null;
}

/** States of the issuer by model and id. Times are unix milliseconds. */
export interface IssuerTable {
  put(record: IssuerRecord): Promise<void>;
  get(model: string, id: string, now: number): Promise<IssuerRow | undefined>;
  byUid(model: string, uid: string, now: number): Promise<IssuerRow | undefined>;
  /** Marks a record used; false when it was already. */
  consume(model: string, id: string, now: number): Promise<boolean>;
  /** Puts a record in the place of another, which is used up by that; false when it was already, and nothing is put. */
  replace(before: string, record: IssuerRecord, now: number): Promise<boolean>;
  /** Has a record stay that would have expired. */
  keep(model: string, id: string): Promise<void>;
  remove(model: string, id: string): Promise<void>;
  removeGrant(grantId: string): Promise<void>;
  /** Ends every session, grant, code and refresh token of an account. @param account an id that the registry made */
  removeAccount(account: string): Promise<void>;
}

const PUT =
  "insert into adbind_issuer_state (model, id, payload, grant_id, uid, expires) values (?, ?, ?, ?, ?, ?) " +
  "on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id, " +
  "uid = excluded.uid, expires = excluded.expires";
const CONSUME =
  "update adbind_issuer_state set consumed = ? where model = ? and id = ? and consumed is null returning id";

const valuesOf = ({ model, id, payload, grantId, uid, expires }: IssuerRecord): ColumnValue[] => [
  ...[model, id, payload],
  ...[grantId, uid, expires],
];

export const issuerTable = (database: Database, run: RunStatement): IssuerTable => ({
  put: async (record) => void (await run(PUT, valuesOf(record))),
  async get(model, id, now) {
    const rows = await run<IssuerRow>(
      "select payload, consumed from adbind_issuer_state where model = ? and id = ? and (expires is null or expires > ?)",
      [model, id, now],
    );
    return rows[0];
  },
  async byUid(model, uid, now) {
    const rows = await run<IssuerRow>(
      "select payload, consumed from adbind_issuer_state where model = ? and uid = ? and (expires is null or expires > ?)",
      [model, uid, now],
    );
    return rows[0];
  },
  async consume(model, id, now) {
    return (await run(CONSUME, [now, model, id])).length > 0;
  },
  replace: (before, record, now) =>
    database.write(function* (q) {
      if ((yield* q.rows(CONSUME, [now, record.model, before])).length === 0) return false;
      yield* q.run(PUT, valuesOf(record));
      return true;
    }),
  async keep(model, id) {
    await run("update adbind_issuer_state set expires = null where model = ? and id = ? and expires is not null", [
      model,
      id,
    ]);
  },
  async remove(model, id) {
    await run("delete from adbind_issuer_state where model = ? and id = ?", [model, id]);
  },
  async removeAccount(account) {
    // What is kept says whose it is in its JSON alone. Every row is looked at: it happens when a person has a password changed.
    const text = "delete from adbind_issuer_state where payload like ?";
    await run(text, [`%"accountId":"${account}"%`]);
  },
  async removeGrant(grantId) {
    await run("delete from adbind_issuer_state where grant_id = ?", [grantId]);
  },
});
