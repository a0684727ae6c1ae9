/** Transactions in which jobs may be added, and who is told when they have ended. */
import { type PostgresDatabase, type Query, wait } from "../../db/index.js";
import type { Waker } from "./waker.js";

/** Of jobs in a transaction: none, some, or some of which it notifies as it commits. */
type Added = "nothing" | "jobs" | "notified";

export class AddingTransactions {
  /** Those that are under way. */
  readonly #added = new Map<Query, Added>();
  readonly #ended = (): void => this.waker.committed();
  readonly #endedNotifying = (endMs: number): void => this.waker.notified(endMs);

  constructor(
    readonly database: Pick<PostgresDatabase, "onTransactionEnd" | "transaction" | "statements" | "query">,
    readonly waker: Waker,
  ) {}

  begin(query: Query): void {
    this.#added.set(query, "nothing");
  }

  has(query: Query): boolean {
    return this.#added.has(query);
  }

  /** Jobs were added. @param notified workers are, as the transaction commits */
  note(query: Query, notified: boolean): void {
    const before = this.#added.get(query);
    if (before === undefined && !notified) this.waker.soon();
    if (before !== undefined && before !== "notified") this.#added.set(query, notified ? "notified" : "jobs");
  }

  /** One of our own was committed. */
  committed(query: Query): void {
    const added = this.#added.get(query);
    if (added === "notified") this.waker.notified();
    else if (added === "jobs") this.waker.committed();
  }

  /** Our work in one of the application's is done: it ends whenever the application says. */
  leave(query: Query, tx: unknown): void {
    const added = this.#added.get(query);
    this.end(query);
    if (added === "notified") this.database.onTransactionEnd(tx, this.#endedNotifying);
    else if (added === "jobs" && !this.database.onTransactionEnd(tx, this.#ended)) this.waker.soon();
  }

  /** It has ended, or we have nothing to do with it any more. */
  end(query: Query | undefined): void {
    if (query !== undefined) this.#added.delete(query);
  }

  /** A transaction of ours. Workers hear of what was added once it is committed. */
  async transaction(work: (query: Query) => Promise<void>, lockTimeoutMs?: number): Promise<void> {
    let ours: Query | undefined;
    try {
      await this.database.transaction((client) => {
        ours = this.database.statements(client);
        this.begin(ours);
        return work(ours);
      }, lockTimeoutMs);
      this.committed(ours!);
    } finally {
      this.end(ours);
    }
  }

  /** One statement, which commits by itself. Workers hear of what was added once it has. */
  async alone(work: (query: Query) => Promise<void>): Promise<void> {
    let ours: Query | undefined;
    try {
      await this.database.query((shared) => {
        // Of this statement only: what is added by another one is not committed with it.
        ours = Object.create(shared) as Query;
        this.begin(ours);
        return wait(work(ours));
      });
      this.committed(ours!);
    } finally {
      this.end(ours);
    }
  }
}
