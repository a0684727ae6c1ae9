/** `adbind db`: the schema of a database, for those who apply it themselves. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { engineNames, openDatabase, printSchema, schemaEngine } from "../runtime/db/open.js";
import type { Database, DatabaseOptions } from "../runtime/db/types.js";
import { AdbindError } from "../runtime/errors.js";
import { copy } from "./db-copy.js";
import { plural, printJson } from "./output.js";
import { placeOfNamed, type StoreOption, storeOption } from "./store.js";

/** Partitions of more days would only make each statement dearer. */
const MAX_DAYS = 366;
const DAYS_AHEAD = 7;
const ACTIVITY_DAYS = 30;

interface SchemaOptions {
  readonly sql?: boolean;
  readonly engine: (typeof engineNames)[number];
  readonly from: number;
}

function schema({ sql, engine, from }: SchemaOptions): void {
  if (!sql) throw new AdbindError("usage", "the schema is printed as SQL only", { remedy: "give --sql" });
  console.log(printSchema(engine, from));
}

async function withDatabase(
  url: string | undefined,
  options: DatabaseOptions,
  job: (database: Database) => Promise<void>,
) {
  const database: Database = await openDatabase(placeOfNamed(url), options);
  try {
    await job(database);
  } finally {
    await database.close();
  }
}

const migrate = ({ store, json }: StoreOption): Promise<void> =>
  withDatabase(store, { migrate: true }, async (database) => {
    const { applied } = await database.status();
    const version = applied.at(-1)?.version ?? 0;
    if (json) printJson({ engine: database.engine, database: database.where, version });
    else console.log(`the schema is at version ${version}; nothing is missing`);
  });

const status = ({ store, json }: StoreOption): Promise<void> =>
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

interface PartitionsOptions extends StoreOption {
  readonly days: number;
  readonly activityDays: number;
}

const partitions = ({ store, json, days, activityDays }: PartitionsOptions): Promise<void> =>
  withDatabase(store, { migrate: false }, async (database) => {
    const { made, dropped, left } = await database.partitions({ days, activityDays });
    if (json) return printJson({ engine: database.engine, database: database.where, made, dropped, left });
    for (const name of made) console.log(`made ${name}`);
    for (const name of dropped) console.log(`dropped ${name}`);
    for (const { name, why } of left) console.log(`left ${name}: ${why}`);
    if (made.length + dropped.length + left.length === 0) console.log("nothing to make, nothing to drop");
  });

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isSafeInteger(days) && days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`give 1 to ${MAX_DAYS} days`);
}

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
    .addOption(new Option("--engine <name>", "whose SQL").choices(engineNames).default(schemaEngine))
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
  storeOption(command.command("copy").argument("<file>", "where the copy goes: a file that is not there yet"))
    .description("a whole copy of a file that is in use; a database of a server is copied by that server's own tools")
    .option(
      "--untold",
      "have the copy forget whom it tells, and what waits: for a test or a rehearsal beside the original",
    )
    .option("--json", "as JSON")
    .action(copy);
  storeOption(command.command("partitions"))
    .description(
      "makes the partitions of days to come, drops those that are over, and says what it has left and why; to be run daily, by the owner of adbind's tables",
    )
    .option("--days <n>", "days made ahead", daysOf, DAYS_AHEAD)
    .option("--activity-days <n>", "days the sender keeps its activity", daysOf, ACTIVITY_DAYS)
    .option("--json", "as JSON")
    .action(partitions);
}
