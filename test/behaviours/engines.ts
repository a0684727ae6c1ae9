/** Databases of sellers, on both engines. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";

/** @returns URLs of fresh databases by engine, and what ends them */
export async function bothEngines() {
  const postgres = await sharedPostgres();
  const folder = tempFolder();
  const databases = {
    SQLite: async () => `sqlite:${path.join(folder, `${randomUUID()}.db`)}`,
    PostgreSQL: () => postgres.database(),
  } as const;
  return { databases, stop: () => postgres.stop() };
}
