/** `adbind db`: the schema of a database, for those who apply it themselves. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { engineNames, openDatabase, printSchema } from "../runtime/db/engines.js";
import type { Database, OpenOptions } from "../runtime/db/types.js";
import { AdbindError } from "../runtime/errors.js";
import { plural, printJson } from "./output.js";
import { placeOf, storeOption } from "./store-option.js";

interface SchemaOptions {
  readonly sql?: boolean;
  readonly engine: (typeof engineNames)[number];
  readonly from: number;
}

function schema({ sql, engine, from }: SchemaOptions): void {
  if (!sql) throw new AdbindError("usage", "the schema is printed as SQL only", { remedy: "give --sql" });
  console.log(printSchema(engine, from));
}

interface StoreOptions {
  readonly store: string;
  readonly json?: boolean;
}

async function withDatabase(url: string, options: OpenOptions, job: (database: Database) => Promise<void>) {
  const database: Database = await openDatabase(placeOf(url), options);
  try {
    await job(database);
  } finally {
    await database.close();
  }
}

const migrate = ({ store, json }: StoreOptions): Promise<void> =>
  withDatabase(store, { migrate: true }, async (database) => {
    const { applied } = await database.status();
    const version = applied.at(-1)?.version ?? 0;
    if (json) printJson({ engine: database.engine, database: database.where, version });
    else console.log(`the schema is at version ${version}; nothing is missing`);
  });

const status = ({ store, json }: StoreOptions): Promise<void> =>
  withDatabase(store, { migrate: "skip" }, async (database) => {
    const { applied, missing } = await database.status();
    if (missing.length > 0) process.exitCode = 1;
    if (json) return printJson({ engine: database.engine, database: database.where, applied, missing });
    for (const { version, name, known } of applied)
      console.log(`${String(version).padStart(4)} ${name.padEnd(18)} applied${known ? "" : ", by a newer adbind"}`);
    for (const { version, name } of missing) console.log(`${String(version).padStart(4)} ${name.padEnd(18)} missing`);
    console.log(
      missing.length === 0 ? "nothing is missing" : `${plural(missing.length, "step")} missing: adbind db migrate`,
    );
  });

function versionOf(text: string): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new InvalidArgumentError("give a version: 1, 2, 3 ...");
}

export function register(command: Command): void {
  command
    .command("schema")
    .description("the schema, for Flyway, alembic or a DBA; run it in one transaction")
    .option("--sql", "as SQL")
    .addOption(new Option("--engine <name>", "whose SQL").choices(engineNames).default("postgres"))
    .option("--from <version>", "only the steps from this one on", versionOf, 1)
    .action(schema);
  storeOption(command.command("migrate"))
    .description("applies what is missing of the schema; needs a role that may create tables")
    .option("--json", "as JSON")
    .action(migrate);
  storeOption(command.command("status"))
    .description("what is applied and what is missing; exit code 1 where something is missing")
    .option("--json", "as JSON")
    .action(status);
}
