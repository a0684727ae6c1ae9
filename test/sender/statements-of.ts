/** What statements a connection of the application's is given. */
import type pg from "pg";

export const statementsOf = async (client: pg.Client, work: () => unknown): Promise<number> =>
  (await statementLengths(client, work)).length;

/** @returns how many characters the longest value of each statement has */
export async function statementLengths(client: pg.Client, work: () => unknown): Promise<readonly number[]> {
  const lengths: number[] = [];
  const { query } = client;
  Object.assign(client, {
    query: (...given: unknown[]) => {
      const values = (given[0] as pg.QueryConfig).values ?? [];
      lengths.push(Math.max(0, ...values.map((value) => (typeof value === "string" ? value.length : 0))));
      return (query as (...values: unknown[]) => unknown).apply(client, given);
    },
  });
  await work();
  Object.assign(client, { query });
  return lengths;
}
