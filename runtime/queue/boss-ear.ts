/** Jobs are heard of as they are added, by whichever instance: a connection of its own that listens. */
import pg from "pg";
import { JOBS_CHANNEL } from "../store/postgres/jobs.js";
import type { PostgresStore } from "../store/postgres/open.js";

/** A broken listening connection is replaced after this long, in milliseconds; polling goes on meanwhile. */
const RELISTEN_MS = 1_000;

export class BossEar {
  readonly #listeners = new Set<() => void>();
  #client: pg.Client | undefined;
  #closed = false;

  constructor(
    readonly store: Pick<PostgresStore, "pool">,
    readonly topic: string,
  ) {}

  /** @returns takes the listener off again */
  onWake(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves when it is listened, or was tried in vain: then it is tried again, and polling finds what is new. */
  async listen(): Promise<void> {
    if (this.#closed) return;
    const client = new pg.Client(this.store.pool.options);
    this.#client = client;
    client.on("error", () => undefined);
    client.on("notification", ({ payload }) => {
      if (payload === this.topic) this.wake();
    });
    const again = (): void => {
      if (!this.#closed) setTimeout(() => this.listen().catch(again), RELISTEN_MS).unref();
    };
    client.once("end", again);
    try {
      await client.connect();
      await client.query(`listen ${JOBS_CHANNEL}`);
      this.wake();
    } catch {
      client.end().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }
}
