/** Every migration, in order. To add one: a file `NNNN-name.ts` here, and a row. */
import { createHash } from "node:crypto";
import { AdbindError } from "../../errors.js";
import { receiver } from "./0001-receiver.js";
import { sender } from "./0002-sender.js";
import { registry } from "./0003-registry.js";
import { registryAccess } from "./0004-registry-access.js";
import { registryCrawl } from "./0005-registry-crawl.js";
import { seller } from "./0006-seller.js";
import { buyer } from "./0007-buyer.js";
import { registryCrawlFiles } from "./0008-registry-crawl-files.js";
import { registryEffect } from "./0009-registry-effect.js";
import { registryBrandAgents } from "./0010-registry-brand-agents.js";
import type { Migration } from "./migration.js";

export type { Migration } from "./migration.js";

export const migrations: readonly Migration[] = [
  receiver,
  sender,
  registry,
  registryAccess,
  registryCrawl,
  seller,
  buyer,
  registryCrawlFiles,
  registryEffect,
  registryBrandAgents,
];

export interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
}

export const checksumOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/**
 * The migrations a database still needs.
 * @param applied what the database says it has, in any order
 * @param where the database, for messages; without credentials
 * @throws AdbindError `store_schema` when the database is newer than this code, or was made from other text
 */
export function pendingMigrations(
  applied: readonly AppliedMigration[],
  dialect: "sqlite" | "postgres",
  where: string,
): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, checksum } of applied) {
    const migration = known.get(version);
    if (migration === undefined) {
      throw new AdbindError("store_schema", `the database has schema version ${version}, newer than this adbind`, {
        where,
        remedy: "upgrade adbind, or open another database",
      });
    }
    if (checksumOf(migration[dialect]) !== checksum) {
      throw new AdbindError("store_schema", `schema version ${version} was applied from another text`, {
        where,
        remedy: "open it with the adbind that made it, or start a new database",
      });
    }
  }
  const done = new Set(applied.map((row) => row.version));
  return migrations.filter((migration) => !done.has(migration.version));
}
