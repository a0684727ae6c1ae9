/** Rows of a statement one by one. */
import type pg from "pg";
import { deadlineOf, types } from "./client.js";
import { postgres } from "./driver.js";

const { Query } = postgres.load();

export interface Question<Row> {
  /** With `$1`, `$2` ... for values. */
  readonly text: string;
  readonly values: readonly unknown[];
  /** What it throws ends the statement. */
  readonly take: (row: Row) => void;
}

/**
 * @param name under which the connection keeps the statement; undefined where a connection is not ours alone
 * @returns when the last row was taken
 */
export async function each<Row>(
  client: pg.ClientBase,
  { text, values, take }: Question<Row>,
  name?: string,
): Promise<void> {
  const answered = deadlineOf(client);
  try {
    await new Promise<void>((resolve, reject) => {
      const query = new Query<never>({ text, values: [...values], types, ...(name === undefined ? {} : { name }) });
      let failed: { readonly error: unknown } | undefined;
      query.on("row", (row) => {
        // The connection is in the middle of the answer: what remains of it is read before the end is told.
        if (failed !== undefined) return;
        try {
          take(row as Row);
        } catch (error) {
          failed = { error };
        }
      });
      query.on("end", () => (failed === undefined ? resolve() : reject(failed.error)));
      query.on("error", reject);
      client.query(query);
    });
  } finally {
    answered();
  }
}
