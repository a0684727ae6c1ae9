/** Transactions in which jobs may be added, and who is told when they have ended. */
import { type PostgresDatabase, type Query, wait } from "../../db/index.js";
import { NamedEndpoints } from "./named-endpoints.js";
import type { Waker } from "./waker.js";

/** Jobs in a transaction: of which endpoints, and whether it notifies as it commits. */
interface Added {
  readonly endpoints: NamedEndpoints;
  jobs: boolean;
  notified: boolean;
}

export class AddingTransactions {
  /** Those that are under way. */
  readonly #added = new Map<Query, Added>();

  constructor(
    readonly database: Pick<PostgresDatabase, "onTransactionEnd" | "transaction" | "statements" | "query">,
    readonly waker: Waker,
  ) {}

  begin(query: Query): void {
    this.#added.set(query, { endpoints: new NamedEndpoints(), jobs: false, notified: false });
  }

  has(query: Query): boolean {
    return this.#added.has(query);
  }

  /** Jobs were added. @param notified workers are, as the transaction commits */
  note(query: Query, endpoints: readonly string[], notified: boolean): void {
    const added = this.#added.get(query);
    if (added === undefined) {
      if (!notified) this.waker.soon(endpoints);
      return;
    }
    added.endpoints.add(endpoints);
    added.jobs = true;
    added.notified ||= notified;
  }

  /** One of our own was committed. */
  committed(query: Query): void {
    const { endpoints, jobs, notified } = this.#added.get(query)!;
    if (notified) this.waker.notified(endpoints.names);
    else if (jobs) this.waker.committed(endpoints.names);
  }

  /** Our work in one of the application's is done: it ends whenever the application says. */
  leave(query: Query, tx: unknown): void {
    const { endpoints, jobs, notified } = this.#added.get(query)!;
    this.end(query);
    if (!jobs) return;
    const { names } = endpoints;
    const ended = (endMs: number): void => (notified ? this.waker.notified(names, endMs) : this.waker.committed(names));
    if (!this.database.onTransactionEnd(tx, ended) && !notified) this.waker.soon(names);
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
