/**
 * The schemaSteps of the schema, listed once; each engine's folder has their texts. A step only adds: what older instances read
 * and write stays as it was, so that they run on beside newer ones. To add one: a row here, a text for each engine.
 */
import { createHash } from "node:crypto";
import { AdbindError } from "../errors.js";
import type { SchemaStatus } from "./types.js";

export interface SchemaStep {
  /** 1, 2, 3 ... without gaps. */
  readonly version: number;
  readonly name: string;
  /** What it is for, as a DBA reads it. */
  readonly about: string;
  /** The oldest version whose code can use a database with this step applied. */
  readonly compatibleFrom: number;
}

/**
 * A step as it is listed. One that only adds says nothing of `compatibleFrom`: whoever could live with what was there before
 * lives with it. If each named the step before it, no version could be gone back to, or be started again during a roll-out,
 * from one that brings two steps.
 */
type ListedStep = Omit<SchemaStep, "compatibleFrom"> & Partial<Pick<SchemaStep, "compatibleFrom">>;

/** Steps with an engine's texts, as a database is brought to them. */
export type DatabaseSchema = readonly (SchemaStep & { readonly sql: string })[];

export const schemaSteps = [
  { version: 1, name: "receiver", about: "what a receiver of webhooks remembers" },
  { version: 2, name: "sender", about: "what a sender of webhooks remembers" },
  { version: 3, name: "registry", about: "what a registry knows of publishers and agents" },
  { version: 4, name: "registry-access", about: "who may use a registry" },
  { version: 5, name: "registry-crawl", about: "what a registry's crawler remembers" },
  { version: 6, name: "seller", about: "what a seller remembers of its calls and tasks" },
  { version: 7, name: "places", about: "by which endpoint a sender's registrations are found" },
  { version: 8, name: "registry-feed", about: "in which order a registry's authorizations changed" },
  { version: 9, name: "documents", about: "what behaviours of a seller keep" },
  { version: 10, name: "registry-lists", about: "what a registry's lists, probes and brands need" },
  {
    version: 11,
    name: "registry-reports",
    about: "what a registry's checks of lists are read again from",
  },
  { version: 12, name: "inbox-tasks", about: "by which task events of an inbox are found" },
  { version: 13, name: "registry-pages", about: "how a publisher's properties changed last" },
  // Instances of before count changes in a row, which nobody reads any more.
  {
    version: 14,
    name: "registry-changes",
    about: "how writers of a registry do not meet on one row",
    compatibleFrom: 14,
  },
  { version: 15, name: "split", about: "which keyspaces a database of several has" },
  { version: 16, name: "callers", about: "whose calls are under which idempotency keys" },
  {
    version: 17,
    name: "functions",
    about: "tasks changed, and jobs added, leased and acknowledged, in one call",
  },
  {
    version: 18,
    name: "attempted-jobs",
    about: "whether events of a registration wait or are kept, wherever they were to go",
  },
  { version: 19, name: "resumed-endpoints", about: "when an operator resumed an endpoint" },
  { version: 20, name: "next-go", about: "what waits in an order goes, whoever ends what" },
  { version: 21, name: "open-channels", about: "who is told, without those who no longer are" },
  { version: 22, name: "named-wakes", about: "whose jobs were added is told with them" },
  { version: 23, name: "server-clock", about: "what is to go at once goes by the server's clock" },
  { version: 24, name: "kept-since", about: "when what is kept has ended" },
  { version: 25, name: "any-session", about: "functions do the same in whatever session" },
  { version: 26, name: "held-tasks", about: "work after an answer is one process's at a time" },
  { version: 27, name: "task-operations", about: "a task id that a sender uses again is another task" },
  { version: 28, name: "property-places", about: "a page of a large publisher's properties costs a page" },
] as const satisfies readonly ListedStep[];

/** A text for every step: one that is missing does not compile. */
export type SchemaTexts = Readonly<Record<(typeof schemaSteps)[number]["name"], string>>;

export function schemaOf(texts: SchemaTexts): DatabaseSchema {
  let compatibleFrom = 1;
  return schemaSteps.map((step) => {
    if ("compatibleFrom" in step) compatibleFrom = step.compatibleFrom;
    return { ...step, compatibleFrom, sql: texts[step.name] };
  });
}

/** A row of `adbind_migrations`. */
export interface AppliedStep {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly compatible_from: number;
}

export const checksumOf = (sql: string): string => createHash("sha256").update(sql).digest("hex").slice(0, 16);

const schemaError = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("store_schema", what, { where, remedy });

/**
 * What a database still needs.
 * @param applied what it says it has, in any order
 * @param where the database, for messages
 * @throws AdbindError `store_schema` when code of this version cannot use it, or it was made from other text
 */
export function missingSteps(schema: DatabaseSchema, applied: readonly AppliedStep[], where: string): DatabaseSchema {
  const known = new Map(schema.map((step) => [step.version, step]));
  const newest = schema.at(-1)?.version ?? 0;
  for (const { version, name, checksum, compatible_from: compatibleFrom } of applied) {
    const step = known.get(version);
    if (step === undefined && compatibleFrom > newest) {
      const what = `the database has schema version ${version} (${name}), which needs code of version ${compatibleFrom} or newer`;
      throw schemaError(what, where, `this is ${newest}: upgrade adbind, or open another database`);
    }
    if (step !== undefined && checksumOf(step.sql) !== checksum) {
      const what = `schema version ${version} (${name}) was applied from another text`;
      throw schemaError(what, where, "open it with the adbind that made it, or start a new database");
    }
  }
  const done = new Set(applied.map((row) => row.version));
  return schema.filter((step) => !done.has(step.version));
}

/** @throws AdbindError `store_schema` that names what is missing and how to apply it */
export function refuseMissing(missing: DatabaseSchema, engine: string, where: string): void {
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.map(({ version, name }) => `${version} ${name}`).join(", ");
  const print = `adbind db schema --sql --engine ${engine} --from ${first.version}`;
  throw schemaError(
    `the database lacks schema versions ${names}`,
    where,
    `run \`adbind db migrate\` as a role that may create tables, or apply what \`${print}\` prints`,
  );
}

/** @throws AdbindError `store_schema` when a schema that may only be read lacks steps */
export function assertComplete(missing: DatabaseSchema, where: string): void {
  const [first] = missing;
  if (first === undefined) return;
  throw new AdbindError("store_schema", `the database lacks schema version ${first.version}, and is only to be read`, {
    where,
    remedy: "read it with the adbind that runs on it, or start the service with this one, which brings it up to date",
  });
}

export const statusOf = (schema: DatabaseSchema, applied: readonly AppliedStep[], where: string): SchemaStatus => {
  const known = new Set(schema.map(({ version }) => version));
  const sorted = [...applied].sort((a, b) => a.version - b.version);
  return {
    applied: sorted.map(({ version, name }) => ({ version, name, known: known.has(version) })),
    missing: missingSteps(schema, applied, where).map(({ version, name }) => ({ version, name })),
  };
};

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Statement that notes a step as applied; also part of the printed schema, so that either way of applying it counts. */
export const noteStep = ({ version, name, compatibleFrom, sql }: DatabaseSchema[number]): string =>
  "insert into adbind_migrations (version, name, checksum, compatible_from) " +
  `values (${version}, ${literal(name)}, ${literal(checksumOf(sql))}, ${compatibleFrom});`;

/**
 * The schema as SQL for Flyway, alembic or a DBA: to be run in order, in one transaction.
 * @param bookkeeping statement that makes the table of applied schemaSteps where it is missing
 * @param from first version printed
 */
export function schemaSql(schema: DatabaseSchema, bookkeeping: string, from = 1): string {
  const parts = schema
    .filter(({ version }) => version >= from)
    .map((step) => {
      const { version, name, about, compatibleFrom, sql } = step;
      const older =
        compatibleFrom < version ? `; instances of version ${compatibleFrom} and newer run on beside it` : "";
      return `-- ${version} ${name}: ${about}${older}\n${sql.trim()}\n${noteStep(step)}\n`;
    });
  const head = "-- Schema of adbind. Each step only adds. Run it in one transaction.\n";
  return [`${head}${bookkeeping.trim()}\n`, ...parts].join("\n");
}
