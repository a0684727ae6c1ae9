/** How many statements a connection of the application's is given. */
import type pg from "pg";

export async function statementsOf(client: pg.Client, work: () => unknown): Promise<number> {
  let count = 0;
  const { query } = client;
  Object.assign(client, {
    query: (...given: unknown[]) => {
      count += 1;
      return (query as (...values: unknown[]) => unknown).apply(client, given);
    },
  });
  await work();
  Object.assign(client, { query });
  return count;
}
