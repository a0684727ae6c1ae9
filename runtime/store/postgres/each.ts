/** Rows of a question one by one. */
import pg from "pg";
import { numberedText } from "../sender-tables.js";

export interface Question<Row> {
  /** With `?` for values. */
  readonly text: string;
  readonly values: readonly unknown[];
  /** What it throws ends the question. */
  readonly take: (row: Row) => void;
}

/** Names of the statements, by their texts: a connection plans one once, which takes as long as some of the answers. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `adbind_each_${names.size}`;
  names.set(text, name);
  return name;
}

/** Asks on a connection of its own. @returns when the last row was taken */
export async function postgresEach<Row>(pool: pg.Pool, { text, values, take }: Question<Row>): Promise<void> {
  const client = await pool.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      const query = new pg.Query<never>({ name: nameOf(text), text: numberedText(text), values: [...values] });
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
    client.release();
  }
}
