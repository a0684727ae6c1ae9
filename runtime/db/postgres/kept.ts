/**
 * Statements that a connection keeps under a name: planning a small one takes as long as running it. Only those that are
 * asked for all the time, whose text never varies, and whose plan is right whatever the tables' sizes. Behind a pooler,
 * which hands the connection to somebody else, nothing is kept.
 */
import { isDatabaseError } from "./driver.js";

/** Names by the text as PostgreSQL reads it. */
const names = new Map<string, string>();

/** `$1` for the first `?`. */
const numbered = new Map<string, string>();

/** A statement as PostgreSQL reads it: `$1` for the first `?`. */
export const numberedText = (text: string): string => {
  let known = numbered.get(text);
  if (known === undefined) {
    let count = 0;
    known = text.replaceAll("?", () => `$${++count}`);
    numbered.set(text, known);
  }
  return known;
};

/**
 * Says that a statement is to be kept by connections. Called where its text is made, once.
 * @param text with `?` for each value
 * @returns the text as it is
 */
export function kept(text: string): string {
  nameOf(numberedText(text));
  return text;
}

/** Name of a kept statement, made where it has none. @param text with `$1`, `$2` ... for values */
export function nameOf(text: string): string {
  const name = names.get(text) ?? `adbind_${names.size}`;
  names.set(text, name);
  return name;
}

/** @param text with `$1`, `$2` ... for values */
export const knownName = (text: string): string | undefined => names.get(text);

/** SQLSTATE of a name that is not known on this connection, or known for another statement: a pooler swaps them. */
const NAME_FAULTS = ["26000", "42P05"];

/** The connection is not ours alone; nothing of the statement was run. */
export const isNameFault = (error: unknown): boolean =>
  isDatabaseError(error) && NAME_FAULTS.includes(error.code ?? "");

/** A column was added to a table since: what was kept answers another row than was planned. Nothing was run. */
export const isStale = (error: unknown): boolean =>
  isDatabaseError(error) && error.code === "0A000" && /cached plan/.test(error.message);
