/** Rows of a statement one by one. */
import pg from "pg";
import { deadlineOf, types } from "./client.js";

export interface Question<Row> {
  /** With `$1`, `$2` ... for values. */
  readonly text: string;
  readonly values: readonly unknown[];
  /** What it throws ends the statement. */
  readonly take: (row: Row) => void;
}

/** Names of the statements, by their texts: a connection plans one once, which takes as long as some of the answers. */
const names = new Map<string, string>();

export function nameOf(text: string): string {
  const name = names.get(text) ?? `adbind_each_${names.size}`;
  names.set(text, name);
  return name;
}

/** SQLSTATE of a name that is not known on this connection, or known for another statement: a pooler swaps them. */
const NAME_FAULTS = ["26000", "42P05"];

/** The connection is not ours alone; nothing of the statement was run. */
export const isNameFault = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && NAME_FAULTS.includes(error.code ?? "");

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
      const query = new pg.Query<never>({ text, values: [...values], types, ...(name === undefined ? {} : { name }) });
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
