/** Hears of what other instances notify: a connection of its own that listens, and is replaced when it breaks. */
import type pg from "pg";
import { ask } from "./client.js";
import { PostgresClient, type PostgresClientConfig } from "./own-client.js";

/** A broken connection is replaced after this long, in milliseconds; who waits polls meanwhile. */
const RELISTEN_MS = 1_000;
/**
 * A connection is asked this often, in milliseconds, whether it still hears: nothing else is ever sent on it, so a server that
 * is frozen, or cut off, or no primary any more, would go unnoticed.
 */
const CHECK_MS = 5_000;

type Listener = (payload?: string) => void;

export class PostgresListener {
  readonly #listeners = new Map<string, Set<Listener>>();
  #client: pg.Client | undefined;
  #asked: pg.Client | undefined;
  #opening = false;
  #closed = false;

  /**
   * @param config of a connection that is not pooled by transaction; undefined where there is none to be had
   * @param checkMs how often the connection is asked, and how long it may take to answer
   * @param finds whether statements on a connection find what they are about; they do by default
   */
  constructor(
    readonly config: PostgresClientConfig | undefined,
    readonly checkMs = CHECK_MS,
    readonly finds: (client: pg.Client) => Promise<boolean> = () => Promise.resolve(true),
  ) {}

  on(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    const fresh = !this.#listeners.has(channel);
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#client === undefined) this.#open().catch(() => undefined);
    else if (fresh) this.#listen(this.#client, channel).catch(() => undefined);
    return () => listeners.delete(listener);
  }

  /** The connection: undefined while nothing that is notified would be heard of. */
  get client(): pg.Client | undefined {
    return this.#client;
  }

  /** The connection, where statements may be asked on it. */
  get asked(): pg.Client | undefined {
    return this.#asked;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }

  /** In vain: it is tried again, and polling finds what is new. */
  async #open(): Promise<void> {
    if (this.#closed || this.#opening || this.#client !== undefined || this.config === undefined) return;
    this.#opening = true;
    const client = new PostgresClient(this.config);
    client.deadline = { ms: this.checkMs };
    client.keeping = { on: true };
    client.on("notification", ({ channel, payload }) => this.#tell(channel, payload));
    client.once("end", () => {
      if (this.#client === client) this.#broken();
    });
    try {
      await client.connect();
      this.#client = client;
      for (const channel of this.#listeners.keys()) await this.#listen(client, channel);
      this.#check(client);
      // Nobody waits for that: it hears by now.
      this.#look(client).catch(() => undefined);
    } catch {
      this.#broken();
      client.end().catch(() => undefined);
    } finally {
      this.#opening = false;
    }
    // Closed meanwhile: nobody else would end it.
    if (this.#closed) client.end().catch(() => undefined);
  }

  async #look(client: pg.Client): Promise<void> {
    if ((await this.finds(client)) && this.#client === client) this.#asked = client;
  }

  #broken(): void {
    this.#client = undefined;
    this.#asked = undefined;
    if (!this.#closed) setTimeout(() => this.#open().catch(() => undefined), RELISTEN_MS).unref();
  }

  async #listen(client: pg.Client, channel: string): Promise<void> {
    await ask(client, `listen ${client.escapeIdentifier(channel)}`);
    // What was notified before is unknown.
    this.#tell(channel, undefined);
  }

  #check(client: pg.Client): void {
    const timer = setTimeout(() => {
      if (this.#client !== client) return;
      ask<{ standby: boolean }>(client, "select pg_is_in_recovery() as standby").then(
        ({ rows }) => {
          if (rows[0]?.standby === false) this.#check(client);
          else client.end().catch(() => undefined);
        },
        () => client.end().catch(() => undefined),
      );
    }, this.checkMs);
    timer.unref();
  }

  #tell(channel: string, payload: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
