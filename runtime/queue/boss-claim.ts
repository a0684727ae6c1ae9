/** Claims of pg-boss, which are those of the jobs that they stand for. */
import type { fromKysely, PgBoss } from "pg-boss";
import { ask, type Tx } from "../store/postgres/tables.js";

/** A job of pg-boss as it was taken: who takes it again has another count. */
export interface Claim {
  readonly id: string;
  readonly retryCount: number;
}

export interface BossData {
  /** Of the row it stands for. */
  readonly id: number;
}

export interface Claimed extends Claim {
  readonly data: BossData;
}

/** As a job carries it. */
export const claimText = ({ id, retryCount }: Claim): string => `${id}:${retryCount}`;
export const claimOf = (text: string): Claim => {
  const at = text.lastIndexOf(":");
  return { id: text.slice(0, at), retryCount: Number(text.slice(at + 1)) };
};

/** Whatever runs its statements, as pg-boss has it. */
type BossDatabase = ReturnType<typeof fromKysely>;

/** A transaction of ours as pg-boss runs its statements in it. */
export const bossTx = (tx: Tx): BossDatabase => ({ executeSql: (text, values) => ask(tx, text, values) });

/** Removes claimed jobs of pg-boss; answers the ids of those that were still ours. */
export async function letGo(
  { boss, topic }: { readonly boss: PgBoss; readonly topic: string },
  tx: Tx,
  claims: readonly Claim[],
): Promise<Set<string>> {
  let ids: readonly string[] = [];
  const inner = bossTx(tx);
  const db: BossDatabase = {
    async executeSql(text, values) {
      const result = await inner.executeSql(text, values);
      ids = (result.rows[0] as { ids?: string[] } | undefined)?.ids ?? [];
      return result;
    },
  };
  const pairs = claims.map(({ id, retryCount }) => ({ id, retryCount }));
  if (pairs.length > 0) await boss.deleteJob(topic, pairs, { db });
  return new Set(ids);
}
