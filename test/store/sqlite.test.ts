import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { openStore } from "../../runtime/store/index.js";
import { openSqliteStore } from "../../runtime/store/sqlite/open.js";
import { arrival, newEvent } from "./cases/events.js";
import { storeCase } from "./store.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-store-"));
let count = 0;
const file = () => path.join(folder, `${count}.db`);

storeCase<Database.Database>({
  name: "sqlite",
  open: async () => openSqliteStore({ path: file() }),
  reset: async () => {
    count += 1;
  },
  record: (value) => (tx) => {
    tx.exec("create table if not exists effects (value text)");
    tx.prepare("insert into effects values (?)").run(value);
  },
  recorded: async (store) => {
    const { db } = store as ReturnType<typeof openSqliteStore>;
    return db
      .prepare<[], { value: string }>("select value from effects")
      .all()
      .map((row) => row.value);
  },
});

const refused = (code: string) => (error: unknown) => error instanceof AdbindError && error.code === code;

test("every commit is synced, in a write-ahead log", async () => {
  count += 1;
  const store = openSqliteStore({ path: file() });
  assert.is(store.db.pragma("synchronous", { simple: true }), 2);
  assert.is(store.db.pragma("journal_mode", { simple: true }), "wal");
  await store.close();
});

test("an effect that returns a promise is refused and undone", async () => {
  count += 1;
  const store = openSqliteStore({ path: file() });
  store.db.exec("create table effects (value text)");
  const now = 1_776_520_800_000;
  const outcome = await store.inbox.accept(arrival(newEvent(), { lease: { owner: "a", until: now + 1000 } }));
  assert.is(outcome.outcome, "accepted");
  const id = outcome.outcome === "accepted" ? outcome.id : 0;
  const effect = async (tx: Database.Database) => {
    tx.exec("insert into effects values ('x')");
  };
  try {
    await store.inbox.complete({ id, owner: "a", now }, effect);
    assert.unreachable();
  } catch (error) {
    assert.ok(refused("store_effect")(error));
  }
  assert.equal(store.db.prepare("select * from effects").all(), []);
  assert.ok(await store.inbox.get(id));
  await store.close();
});

test("when the disk is full, what does not fit fails alone and is not there", async () => {
  count += 1;
  const store = openSqliteStore({ path: file() });
  await store.inbox.accept(arrival(newEvent()));
  store.db.pragma(`max_page_count = ${(store.db.pragma("page_count", { simple: true }) as number) + 8}`);
  const sizes = [100, 64 * 1024, 100];
  const results = await Promise.allSettled(
    sizes.map((size) => store.inbox.accept(arrival(newEvent({ body: Buffer.alloc(size, 32) })))),
  );
  assert.equal(
    results.map((one) => one.status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  const other = openSqliteStore({ path: file() });
  assert.is((await other.inbox.list()).length, 3);
  assert.is(await other.claims("https://seller.example/agent"), 3);
  await other.close();
  await store.close();
});

test("an application's own connection in the same process is never kept waiting", async () => {
  count += 1;
  const store = openSqliteStore({ path: file() });
  const own = new Database(file(), { timeout: 0 });
  own.exec("create table mine (id integer)");
  const pending = [1, 2, 3].map(() => store.inbox.accept(arrival(newEvent())));
  own.exec("insert into mine values (1)");
  await Promise.all(pending);
  own.exec("insert into mine values (2)");
  own.close();
  await store.close();
});

test("a database that is newer, or was made from another text, is refused", async () => {
  count += 1;
  await openSqliteStore({ path: file() }).close();
  const db = new Database(file());
  db.exec("insert into adbind_migrations (version, name, checksum, compatible_from) values (999, 'x', 'y', 999)");
  assert.throws(() => openSqliteStore({ path: file() }), refused("store_schema"));
  db.exec("delete from adbind_migrations where version = 999; update adbind_migrations set checksum = 'z'");
  assert.throws(() => openSqliteStore({ path: file() }), refused("store_schema"));
  db.close();
});

test("a store is opened by URL, and other URLs are refused without showing their password", async () => {
  count += 1;
  const store = await openStore(`sqlite:${file()}`);
  assert.is(store.database.engine, "sqlite");
  await store.close();
  const unusable = "store_option_invalid";
  for (const [url, code] of [
    ["mysql://u:secret@h/d", unusable],
    ["sqlite:", unusable],
    ["sqlite::memory:", unusable],
    ["sqlite:/nowhere/at/all.db", "database_unreachable"],
  ] as const) {
    try {
      await openStore(url);
      assert.unreachable(url);
    } catch (error) {
      assert.ok(refused(code)(error), url);
      assert.not.match((error as Error).message, "secret");
    }
  }
});

test("expiry and the bound look things up by index, whatever is live", async () => {
  count += 1;
  const store = openSqliteStore({ path: file() });
  const plan = (sql: string): string =>
    store.db
      .prepare<[], { detail: string }>(`explain query plan ${sql}`)
      .all()
      .map((row) => row.detail)
      .join("; ");
  const oldest = "where expires <= 1 order by expires limit 5";
  for (const [table, columns] of [
    ["adbind_claims", "sender, key"],
    ["adbind_nonces", "key, nonce"],
    ["adbind_tasks", "sender, task_id"],
    ["adbind_task_operations", "sender, task_id, operation_id"],
    ["adbind_notifications", "sender, notification_id"],
    ["adbind_registrations", "route, operation_id"],
  ]) {
    const detail = plan(`select ${columns} from ${table} ${oldest}`);
    assert.match(detail, /^SEARCH \w+ USING (COVERING )?INDEX \w+_expires/, table);
  }
  const task = plan("select id from adbind_inbox where sender = 1 and task_id = 't' and id > 0 order by id limit 50");
  assert.match(task, /^SEARCH adbind_inbox USING (COVERING )?INDEX adbind_inbox_task/);
  await store.close();
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
