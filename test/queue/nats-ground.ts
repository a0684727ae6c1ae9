/** A queue on NATS for tests, with more instances of it. */
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import type { Job, Queue } from "../../runtime/queue/types.js";
import type { TestNats } from "../support/nats.js";
import type { TestDatabases } from "../support/postgres.js";

export interface NatsGround {
  readonly postgres: TestDatabases;
  readonly nats: TestNats;
}

const all = { limit: 100, room: () => 100 };
export const takenOf = (queue: Queue): Promise<Job[]> => queue.take({ now: Date.now(), ...all });

export async function openedOn({ postgres, nats }: NatsGround, options: { resendMs?: number } = {}) {
  const database: PostgresDatabase = await openPostgres({ url: await postgres.database(), connections: 4 });
  const open = () => natsQueue({ servers: nats.url, ...options })(database, "stream", { leaseMs: 2_000 });
  const queue = await open();
  const more: Queue[] = [queue];
  const other = async (): Promise<Queue> => {
    more.push(await open());
    return more.at(-1)!;
  };
  const close = async (): Promise<void> => {
    for (const one of more) await one.close();
    await database.close();
  };
  return { queue, database, other, close };
}
