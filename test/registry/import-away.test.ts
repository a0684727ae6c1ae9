/** An import whose database is busy, or takes no writes: no line is left out for that. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isPassingFault } from "../../runtime/db/open.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { openPostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

test("a table that somebody has locked ends an import, which goes on later; its lines are not taken for wrong ones", async () => {
  const url = await postgres.database();
  const store = await openPostgresStore({ url, lockTimeoutMs: 200 });
  const other = new pg.Client(url);
  await other.connect();
  const lines = ["a", "b"].map((slug) => JSON.stringify({ kind: "member", slug, display_name: slug }));
  const left: number[] = [];
  const run = () => importRegistry(store, lines, { id: "one", invalid: (line) => left.push(line) });
  try {
    await other.query("begin");
    await other.query("lock table adbind_registry_members");
    assert.is((await thrownBy(run)).code, "database_busy");
    await other.query("rollback");
    const { members } = await run();
    assert.equal([members, left], [2, []]);
  } finally {
    await other.end();
    await store.close();
  }
});

test("a file that may not be written ends an import, which goes on later; its lines are not taken for wrong ones", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-import-"));
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  const lines = ["a", "b"].map((slug) => JSON.stringify({ kind: "member", slug, display_name: slug }));
  const left: number[] = [];
  const run = () => importRegistry(store, lines, { id: "one", invalid: (line) => left.push(line) });
  try {
    store.db.pragma("query_only = on");
    const fault = await thrownBy(run);
    assert.is(fault.code, "database_failed");
    assert.ok(isPassingFault(fault), "a server asks its callers to come again");
    store.db.pragma("query_only = off");
    const { members } = await run();
    assert.equal([members, left], [2, []]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});

test.run();
