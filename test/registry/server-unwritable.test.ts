/** A registry whose store takes no writes for a while: what it tells callers, and that it goes on by itself. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { application, PASSWORD, REDIRECT } from "./server-application.js";
import { addUser, type Setup, setupRegistry } from "./server-fixture.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

interface Unwritable {
  readonly store: SqliteStore | PostgresStore;
  stop(): Promise<void>;
  goOn(): Promise<void>;
  close(): Promise<void>;
}

/** A file that may not grow: SQLite says that its disk is full. */
async function fullFile(): Promise<Unwritable> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-unwritable-"));
  const store = openSqliteStore({ path: path.join(folder, "registry.db") });
  const most = (pages: number): unknown => store.db.pragma(`max_page_count = ${pages}`);
  return {
    store,
    stop: async () => void most(1),
    goOn: async () => void most(2 ** 30),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A server whose sessions only read, as one that has become a standby. */
async function readingServer(): Promise<Unwritable> {
  const url = await postgres.database();
  const name = new URL(url).pathname.slice(1);
  const store = await openPostgresStore({ url });
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`;
  return {
    store,
    stop: () => runStatements(url, `alter database ${name} set default_transaction_read_only = on`, cut),
    goOn: () => runStatements(url, "set default_transaction_read_only = off", `alter database ${name} reset all`, cut),
    close: () => store.close(),
  };
}

for (const [kind, open] of [
  ["SQLite", fullFile],
  ["PostgreSQL", readingServer],
] as const) {
  test(`${kind}: an issuer whose store takes no writes asks to come again, and loses nobody's log-in`, async () => {
    const unwritable = await open();
    const setup: Setup = await setupRegistry({ store: unwritable.store, embeddedIssuer: true, now: Date.now });
    const { postJson, exchange, tokens } = application(() => setup);
    await addUser(setup, { email: "ada@buyer.example", password: PASSWORD });
    const { flow, refresh_token } = await tokens();
    const refresh = () => exchange({ grant_type: "refresh_token", client_id: flow.clientId, refresh_token });
    const register = () => postJson("/oauth/register", { redirect_uris: [REDIRECT], client_name: "P".repeat(9_000) });
    try {
      await unwritable.stop();
      const refused = await register();
      assert.equal(
        [refused.statusCode, refused.headers["retry-after"], refused.json().error],
        [503, "5", "server_error"],
      );
      // On a full disk small records fit for a while longer than large ones.
      await until(async () => (await postJson("/oauth/register", { redirect_uris: [REDIRECT] })).statusCode === 503);
      assert.is((await refresh()).statusCode, 503);
      await unwritable.goOn();
      assert.is((await register()).statusCode, 201);
      const refreshed = await refresh();
      assert.is(refreshed.statusCode, 200, refreshed.body);
    } finally {
      await setup.close();
      await unwritable.close();
    }
  });
}

test.run();
