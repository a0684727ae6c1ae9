/** What an agent said, for people: tables where there are rows, lines where there are members, and no secrets. */
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import { printable } from "../../runtime/printable.js";

/** Members whose values are for nobody's eyes. */
const secret = /(^|_)(token|secret|credentials?|password|authorization|api_?key|private_key|signature)$/i;

/** A value with its secrets blotted out, whatever depth they stand at. */
export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      secret.test(name) && one !== null && one !== "" ? "[redacted]" : redacted(one),
    ]),
  );
}

/** Widest column, in characters. */
const MAX_WIDTH = 44;
/** Columns of a table; a terminal has room for few more. */
const MAX_COLUMNS = 6;

/** The last column has the rest of a line. */
const LAST_WIDTH = 96;

const cell = (value: unknown, most = MAX_WIDTH): string => {
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  const line = printable(text.replace(/\s+/g, " "));
  return line.length > most ? `${line.slice(0, most - 3)}...` : line;
};

/** Rows under their columns, each as wide as it has to be. */
export function tableLines(columns: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const wide = (at: number): number => (at === columns.length - 1 ? LAST_WIDTH : MAX_WIDTH);
  const cells = [columns, ...rows.map((row) => row.map((value, at) => cell(value, wide(at))))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}

const isPlain = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);

function rowsOf(name: string, items: readonly JsonObject[]): string[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  // Identifiers and what is plain say most; what is nested is counted at best.
  const plain = names.filter((one) => items.some((item) => isPlain(item[one])));
  const ordered = [...plain.filter((one) => /(^|_)id$/.test(one)), ...plain.filter((one) => !/(^|_)id$/.test(one))];
  const columns = ordered.slice(0, MAX_COLUMNS);
  if (columns.length === 0) return [`${name}: ${items.length}`];
  const rows = items.map((item) => columns.map((column) => item[column]));
  const left = names.length - columns.length;
  const more = left > 0 ? [`  (${left} more members: --output json has them)`] : [];
  return [`${name}: ${items.length}`, ...tableLines(columns, rows).map((line) => `  ${line}`), ...more];
}

/** An answer's data, member by member. */
export function dataLines(data: unknown): string[] {
  const shown = redacted(data);
  if (!isJsonObject(shown)) return [cell(shown)];
  return Object.entries(shown).flatMap(([name, value]) => {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isJsonObject)) return [`${name}: ${cell(value)}`];
    return rowsOf(name, value);
  });
}
