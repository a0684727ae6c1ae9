/** Statements of PostgreSQL alone, as template literals: what is put in becomes `$1`, `$2` ..., a statement a part. */
import type pg from "pg";
import { ask } from "./client.js";
import { nameOf } from "./kept.js";

/** What runs a statement: a connection within a transaction, or the database, where it commits by itself. */
export type SqlTarget = pg.ClientBase | { ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> };

export class Sql<Row> {
  constructor(
    readonly parts: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  get text(): string {
    return this.parts.reduce((text, part, at) => `${text}$${at}${part}`);
  }

  /** Has connections keep it under a name: for one that is asked all the time, and whose text never varies. */
  kept(): this {
    nameOf(this.text);
    return this;
  }

  /** @returns its rows */
  async rows(on: SqlTarget): Promise<Row[]> {
    return (await this.#result(on)).rows as Row[];
  }

  /** @returns its first row */
  async first(on: SqlTarget): Promise<Row | undefined> {
    return (await this.rows(on))[0];
  }

  /** @returns the number of rows it inserted, changed or removed */
  async run(on: SqlTarget): Promise<number> {
    return (await this.#result(on)).rowCount ?? 0;
  }

  #result(on: SqlTarget): Promise<pg.QueryResult> {
    return "ask" in on ? on.ask(this.text, this.values) : ask(on, this.text, this.values);
  }
}

/** Makes a statement. Names of tables and columns stand in the text; only values and parts made by `sql` are put in. */
export function sql<Row = never>(texts: TemplateStringsArray, ...given: readonly unknown[]): Sql<Row> {
  const parts = [texts[0]!];
  const values: unknown[] = [];
  const append = (text: string): void => {
    parts[parts.length - 1] += text;
  };
  given.forEach((one, at) => {
    if (one instanceof Sql) {
      append(one.parts[0]!);
      parts.push(...one.parts.slice(1));
      values.push(...one.values);
      append(texts[at + 1]!);
    } else {
      values.push(one);
      parts.push(texts[at + 1]!);
    }
  });
  return new Sql(parts, values);
}

/** `(column, ...) values ($1, ...)` of a row, as a part of an insert. Its columns are named by our code. */
export function rowValues(row: object): Sql<never> {
  const names = Object.keys(row);
  const commas = names.slice(1).map(() => ", ");
  return new Sql([`(${names.join(", ")}) values (`, ...commas, ")"], Object.values(row));
}
