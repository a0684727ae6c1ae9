/**
 * Connections handed out of the pool, and what becomes of them. One whose server is no primary any more, or is frozen, is
 * thrown away with all that were made before it. Repeated is only what cannot have done anything:
 *
 * - a statement that the driver did not send, since it knew by then that the connection was gone;
 * - the beginning of a transaction, on a connection that died while nobody used it;
 * - a transaction that only reads (see `snapshot` of the connections).
 *
 * What writes is never repeated here. Before its commit was sent the server has undone it, but its work is somebody else's
 * code; after that nobody knows, and who asks again has a key by which a repetition is found.
 */
import type pg from "pg";
import { ask } from "./client.js";
import { isDemoted, isDisconnected, isUnsent, isUsable, toldConnecting } from "./faults.js";

type PoolClient = pg.PoolClient & {
  /** It has served somebody before. */
  used?: boolean;
  /** An answer did not come in time. */
  readonly overdue?: boolean;
};

export class Checkout {
  /** Connections of an earlier count are thrown away. */
  #since = 0;
  readonly #made = new WeakMap<pg.ClientBase, number>();

  /** @param where the database, for messages */
  constructor(
    readonly pool: pg.Pool,
    readonly where: string,
  ) {
    pool.on("connect", (client) => this.#made.set(client, this.#since));
    pool.on("release", (_, client: PoolClient) => {
      client.used = true;
    });
  }

  /** Runs one statement on a connection. */
  async use<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    for (;;) {
      const client = await this.#acquire();
      const { used } = client;
      try {
        const value = await work(client);
        this.release(client, false);
        return value;
      } catch (error) {
        this.release(client, !isUsable(error), error);
        if (!used || !isUnsent(error)) throw error;
      }
    }
  }

  /** @param text begins a transaction @returns the connection it has begun on, to be released */
  async begun(text: string): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#acquire();
      const { used } = client;
      try {
        await ask(client, text);
        return client;
      } catch (error) {
        this.release(client, true, error);
        if (!used || !isDisconnected(error)) throw error;
      }
    }
  }

  /** @param error what was met on it */
  release(client: PoolClient, broken: boolean, error?: unknown): void {
    // Its neighbours have the same server, and would each find that out at the cost of a request.
    if ((isDemoted(error) || client.overdue === true) && this.#isFresh(client)) this.#since += 1;
    client.release(broken || !this.#isFresh(client));
  }

  async #acquire(): Promise<PoolClient> {
    for (;;) {
      const client = await this.pool.connect().catch((error: unknown) => {
        throw toldConnecting(error, this.where);
      });
      if (this.#isFresh(client)) return client;
      client.release(true);
    }
  }

  #isFresh(client: pg.ClientBase): boolean {
    return (this.#made.get(client) ?? 0) === this.#since;
  }
}
