/** A way of getting events from an application's transaction to their destinations, as the sender's bench drives it. */
import { randomBytes } from "node:crypto";
import type pg from "pg";

export interface BenchEvent {
  /** Row of the application that the event tells of. */
  readonly task: string;
  readonly url: string;
}

/** Text of each event: 1,500 characters that no database can compress. */
export const EVENT_TEXT = randomBytes(1_125).toString("base64");

/** What an application uses to store events. */
export interface Producer {
  /**
   * Changes the rows of the tasks and stores an event of each, in a transaction that the caller has begun.
   * @param events one, or many, of tasks of their own
   */
  store(tx: pg.PoolClient, events: readonly BenchEvent[]): Promise<void>;
  close(): Promise<void>;
}

export interface ProducerOptions {
  readonly url: string;
  /** Tasks there are, each with the destination of its events. */
  readonly tasks: readonly BenchEvent[];
}

export interface WorkerOptions {
  readonly url: string;
  /** Without a pooler in front, to be notified by. */
  readonly listenUrl?: string | undefined;
  /** Servers of NATS that hand events out, where it is not the database. */
  readonly queue?: string | undefined;
  /** Called when an event was sent. */
  readonly sent: () => void;
  /** Tuned for the least delay, not for the most events. */
  readonly prompt: boolean;
  /** Signs and posts an event; what is not delivered throws. */
  readonly post: (url: string, body: Buffer) => Promise<void>;
}

export interface Working {
  begin(): Promise<void>;
  /** Comes back when everything under way is settled. */
  stop(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  /** Makes what it keeps in an empty database, and the tasks. */
  produce(options: ProducerOptions): Promise<Producer>;
  /** Opens what delivering takes, and delivers nothing yet. */
  work(options: WorkerOptions): Promise<Working>;
}
