/** What engines that speak PostgreSQL may refuse is named in docs/scaling.md, and nothing is named there that is not asked for. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

const repository = path.resolve(import.meta.dirname, "../..");

/**
 * Of PostgreSQL alone, or done otherwise by engines that speak it: as our statements have it, and the words of the table
 * that name it.
 */
const features: Readonly<Record<string, readonly [inStatements: RegExp, named: string]>> = {
  "shared advisory locks": [/pg_advisory_xact_lock_shared/, "`pg_advisory_xact_lock_shared`"],
  "advisory locks": [/pg_advisory_xact_lock\b/, "`pg_advisory_xact_lock`"],
  "the system's view of locks": [/\bpg_locks\b/, "`pg_locks`"],
  "a sequence's state": [/\blast_value\b/, "`last_value`"],
  "rows that are skipped": [/skip locked/, "`for update skip locked`"],
  "arrays as rows": [/\bunnest\(/, "`unnest`"],
  "JSON as rows": [/json_to_recordset/, "`json_to_recordset`"],
  "positions in arrays": [/array_position/, "`array_position`"],
  collations: [/collate "C"/, '`collate "C"`'],
  "inverted indexes": [/using gin/, "GIN index"],
  "other index methods": [/using (?:brin|hash|gist|spgist)\b/, "index methods"],
  notifications: [/\bpg_notify\b/, "`listen` and `notify`"],
  "unlogged tables": [/create unlogged table/, "`unlogged`"],
  "room in pages": [/fillfactor/, "`fillfactor`"],
  "settings of autovacuum": [/autovacuum_\w+/, "`autovacuum_`"],
  "identity columns": [/as identity/, "identity column"],
  "partitions by range": [/partition by range/, "`partition by range`"],
  "partitions by hash": [/partition by hash/, "`partition by hash`"],
  "catalogue of partitions": [/pg_inherits/, "`pg_inherits`"],
  "system columns of versions": [/\bxmax = 0/, "`xmax = 0`"],
  "system columns of places": [/\bctid = any/, "`ctid`"],
  "transaction numbers": [/pg_current_xact_id/, "`pg_current_xact_id_if_assigned`"],
  "functions in PL/pgSQL": [/language plpgsql/, "PL/pgSQL"],
  "commits that wait for no disk": [/synchronous_commit/, "`synchronous_commit`"],
  "recursive queries": [/with recursive/, "`with recursive`"],
  "writing parts of a query": [/as \(\s*(?:insert into|update|delete from)/, "a `with` that writes"],
  "materialized parts": [/as materialized/, "`as materialized`"],
  "lateral joins": [/\blateral\b/, "`lateral`"],
  savepoints: [/"savepoint /, "`savepoint`"],
  snapshots: [/isolation level repeatable read/, "`repeatable read`"],
  "shared row locks": [/\bfor share\b/, "`for share`"],
  triggers: [/create (?:constraint )?trigger/, "`create trigger`"],
  extensions: [/create extension/, "`create extension`"],
  "deferred constraints": [/deferrable/, "`deferrable`"],
  "exclusion constraints": [/exclude using/, "`exclude using`"],
  copying: [/\bcopy \w+ from stdin/, "`copy`"],
  merging: [/\bmerge into/, "`merge into`"],
};

const sources = globSync("runtime/**/*.ts", { cwd: repository })
  .filter((file) => !file.includes("/sqlite/"))
  .map((file) => readFileSync(path.join(repository, file), "utf8"));
const guide = readFileSync(path.join(repository, "docs/scaling.md"), "utf8");
const table = guide.slice(guide.indexOf("## Distributed engines that speak PostgreSQL"));

test("a feature of PostgreSQL that our statements use is named among what distributed engines may refuse", () => {
  const unnamed = Object.entries(features)
    .filter(([, [pattern, named]]) => sources.some((text) => pattern.test(text)) && !table.includes(named))
    .map(([what, [, named]]) => `${what}: ${named}`);
  assert.equal(unnamed, []);
});

test("what is named there is used, so that nobody replaces what is not asked for", () => {
  const unused = Object.entries(features)
    .filter(([, [pattern, named]]) => table.includes(named) && !sources.some((text) => pattern.test(text)))
    .map(([what]) => what);
  assert.equal(unused, []);
});

test.run();
