/** A sender on an empty PostgreSQL, and an application that has a connection of its own to it. */
import pg from "pg";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { createSender, type Sender, type SenderOptions } from "../../runtime/sender/index.js";
import type { TestDatabases } from "../support/postgres.js";
import { FakeNetwork, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

export interface BesideApplication {
  readonly url: string;
  readonly database: PostgresDatabase;
  readonly network: FakeNetwork;
  sender: Sender;
  readonly application: pg.Client;
}

/** @param over options of the sender */
export async function openBeside(
  postgres: Pick<TestDatabases, "database">,
  clock: { at: number },
  over: Partial<SenderOptions> = {},
): Promise<BesideApplication> {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 5 });
  const network = new FakeNetwork(clock);
  const sender = await createSender({ ...optionsFor(clock, network), store: { database }, ...over });
  const application = new pg.Client(url);
  await application.connect();
  return { url, database, network, sender, application };
}

export async function closeBeside({ application, sender, database }: BesideApplication): Promise<void> {
  await application.end();
  await sender.stop();
  await database.close();
}

export async function registerTasks(sender: Sender, taskIds: readonly string[]): Promise<void> {
  for (const taskId of taskIds) await sender.tasks.register(start({ taskId }), { push });
}
