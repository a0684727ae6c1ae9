/** Transactions of somebody else's, whatever runs their statements. */
import type pg from "pg";
import { ask } from "./client.js";
import type { Ask, StatementResult } from "./query.js";

/** All that is asked of a library of another kind: it runs a statement, with `$1` for values, in the open transaction. */
export interface SqlExecutor {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

const isPgClient = (tx: pg.ClientBase | SqlExecutor): tx is pg.ClientBase => "escapeIdentifier" in tx;

/** A statement whose rows, or their number, are one column of text: every driver reads text alike. */
const answersRows = (text: string): boolean => /^\s*(select|values)\b|\breturning\b/i.test(text);

interface AnswerRow {
  readonly told: string;
}

async function askForeign({ query }: SqlExecutor, text: string, values: readonly unknown[]): Promise<StatementResult> {
  // Of 64-bit integers one driver makes texts, another numbers, a third BigInts; of JSON's numbers all make the same.
  // A statement of parts that change something cannot stand inside another: it answers one text itself.
  if (/^\s*with\b/i.test(text)) {
    const { rows } = await query(text, [...values]);
    return { rows: [...rows], rowCount: rows.length };
  }
  if (answersRows(text)) {
    const wrapped = `with answer as (${text}) select to_json(answer)::text as told from answer`;
    const { rows } = await query(wrapped, [...values]);
    const read = rows.map((row) => JSON.parse((row as AnswerRow).told) as unknown);
    return { rows: read, rowCount: read.length };
  }
  if (/^\s*(insert|update|delete)\b/i.test(text)) {
    const wrapped = `with answer as (${text} returning 1) select count(*)::text as told from answer`;
    const { rows } = await query(wrapped, [...values]);
    return { rows: [], rowCount: Number((rows[0] as AnswerRow).told) };
  }
  await query(text, [...values]);
  return { rows: [], rowCount: null };
}

export const foreignAsk = (tx: pg.ClientBase | SqlExecutor): Ask =>
  isPgClient(tx)
    ? (text, values) => ask(tx, text, values)
    : (text, values) => askForeign({ query: (...given) => tx.query(...given) }, text, values);
