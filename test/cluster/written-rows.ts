/** Writes to a database without end, and remembers what was answered: what is acknowledged has to be there at the end. */
import { type Database, openDatabase } from "../../runtime/db/index.js";

export interface Reckoning {
  readonly acknowledged: number;
  /** Answered, and not there. */
  readonly gone: number;
  /** There more than once, though each was asked for once. */
  readonly twice: number;
  /** Answered by an error, and there all the same: nobody could know. */
  readonly unsure: number;
}

const TABLE = "create table if not exists soak_written (n bigint, writer text)";

export class RowWriter {
  readonly #acknowledged = new Set<number>();
  #next = 0;
  /** Newest that was heard of from whoever listens. */
  heard = 0;

  private constructor(
    readonly name: string,
    readonly database: Database,
  ) {}

  static async open(name: string, url: string): Promise<RowWriter> {
    const database = await openDatabase(url, { migrate: "skip" });
    await database.execute(TABLE);
    const writer = new RowWriter(name, database);
    database.onNotify(`soak_${name}`, (payload) => {
      writer.heard = Math.max(writer.heard, Number(payload ?? 0));
    });
    return writer;
  }

  /** One row in a transaction that tells of it. */
  async write(): Promise<void> {
    const n = ++this.#next;
    const { name } = this;
    await this.database.write(function* (q) {
      yield* q.run("insert into soak_written (n, writer) values (?, ?)", [n, name]);
      yield* q.notify(`soak_${name}`, String(n));
    });
    this.#acknowledged.add(n);
  }

  async reckon(): Promise<Reckoning> {
    const rows = await this.database.execute<{ n: number; times: number }>(
      "select n, count(*)::int as times from soak_written where writer = ? group by n",
      [this.name],
    );
    const there = new Map(rows.map(({ n, times }) => [Number(n), times]));
    const acknowledged = [...this.#acknowledged];
    return {
      acknowledged: acknowledged.length,
      gone: acknowledged.filter((n) => !there.has(n)).length,
      twice: rows.filter(({ times }) => times > 1).length,
      unsure: [...there.keys()].filter((n) => !this.#acknowledged.has(n)).length,
    };
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
