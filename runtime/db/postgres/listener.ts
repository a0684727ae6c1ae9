/** Hears of what other instances notify: a connection of its own that listens, and is replaced when it breaks. */
import pg from "pg";

/** A broken connection is replaced after this long, in milliseconds; who waits polls meanwhile. */
const RELISTEN_MS = 1_000;

type Listener = (payload?: string) => void;

export class PostgresListener {
  readonly #listeners = new Map<string, Set<Listener>>();
  #client: pg.Client | undefined;
  #opening = false;
  #closed = false;

  /** @param config of a connection that is not pooled by transaction; undefined where there is none to be had */
  constructor(readonly config: pg.ClientConfig | undefined) {}

  on(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    const fresh = !this.#listeners.has(channel);
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#client === undefined) this.#open().catch(() => undefined);
    else if (fresh) this.#listen(this.#client, channel).catch(() => undefined);
    return () => listeners.delete(listener);
  }

  /** Whether what is notified now would be heard of. */
  get listening(): boolean {
    return this.#client !== undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }

  /** In vain: it is tried again, and polling finds what is new. */
  async #open(): Promise<void> {
    if (this.#closed || this.#opening || this.config === undefined) return;
    this.#opening = true;
    const client = new pg.Client(this.config);
    client.on("error", () => undefined);
    client.on("notification", ({ channel, payload }) => this.#tell(channel, payload));
    client.once("end", () => {
      this.#client = undefined;
      if (!this.#closed) setTimeout(() => this.#open().catch(() => undefined), RELISTEN_MS).unref();
    });
    try {
      await client.connect();
      this.#client = client;
      for (const channel of this.#listeners.keys()) await this.#listen(client, channel);
    } catch {
      client.end().catch(() => undefined);
    } finally {
      this.#opening = false;
    }
    // Closed meanwhile: nobody else would end it.
    if (this.#closed) client.end().catch(() => undefined);
  }

  async #listen(client: pg.Client, channel: string): Promise<void> {
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    // What was notified before is unknown.
    this.#tell(channel, undefined);
  }

  #tell(channel: string, payload: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
