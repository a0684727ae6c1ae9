/** A sender whose role may use the tables of a PostgreSQL and owns none, and an administrator beside it. */
import { openPostgres } from "../../runtime/db/index.js";
import type { OpenQueue } from "../../runtime/queue/types.js";
import { createSender } from "../../runtime/sender/index.js";
import { appRole } from "../support/app-role.js";
import { runStatements, type TestDatabases } from "../support/postgres.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";

interface Line {
  readonly message: string;
  readonly text: string;
}

/** @param queue what hands events out, where the database does not */
export async function administered(postgres: TestDatabases, queue?: OpenQueue) {
  const url = await postgres.database();
  const { role, own, drop } = await appRole(url);
  const database = await openPostgres({ url: own, connections: 4 });
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const lines: Line[] = [];
  const log = (given: unknown, message: string) => {
    lines.push({ message, text: String((given as { err?: unknown }).err ?? "") });
  };
  const logger = { debug: () => undefined, info: log, warn: log, error: log } as never;
  const sender = await createSender({
    ...optionsFor(clock, network),
    store: { database },
    logger,
    ...(queue !== undefined && { queue }),
  });
  const close = async () => {
    await sender.stop();
    await database.close();
    await drop();
  };
  return {
    url,
    clock,
    own,
    role,
    database,
    sender,
    network,
    lines,
    close,
    by: (...all: string[]) => runStatements(url, ...all),
  };
}
