import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, wait } from "../../runtime/db/coroutine.js";
import { openSqlite, type SqliteOptions } from "../../runtime/db/sqlite/open.js";
import { AdbindError } from "../../runtime/errors.js";
import { databaseCase } from "./database.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-db-"));
let count = 0;
const file = () => path.join(folder, `${count}.db`);
const fresh = () => {
  count += 1;
  return file();
};
const open = (more: Partial<SqliteOptions> = {}) => openSqlite({ path: file(), ...more });

databaseCase<Sqlite.Database>({
  name: "sqlite",
  open: async () => open(),
  reset: async () => void fresh(),
  transact: async (database, work) => {
    const { file: handle } = database as ReturnType<typeof open>;
    handle.exec("begin immediate");
    try {
      const done = work(handle);
      // A coroutine on SQLite is done when it returns; the case's own `async` is all that may be waited for.
      handle.exec("commit");
      await done;
    } catch (error) {
      handle.exec("rollback");
      throw error;
    }
  },
  hearsOthers: false,
});

const faultOf = (options: SqliteOptions): AdbindError => {
  try {
    openSqlite(options).file.close();
  } catch (error) {
    assert.instance(error, AdbindError);
    return error as AdbindError;
  }
  throw new Error("it opened");
};

test("the file and the log beside it are their owner's only", () => {
  fresh();
  const database = open();
  database.file.exec("create table t (id integer)");
  for (const name of [file(), `${file()}-wal`, `${file()}-shm`]) assert.is(statSync(name).mode & 0o777, 0o600, name);
  database.file.close();
});

test("what cannot be opened says why, and what to do", () => {
  const text = path.join(folder, "text.db");
  writeFileSync(text, "this is no database, but long enough to be taken for one".repeat(30));
  mkdirSync(path.join(folder, "folder.db"));
  const cases: [path: string, code: string, says: RegExp][] = [
    ["", "store_option_invalid", /needs a file/],
    [path.join(folder, "none/at/all.db"), "database_unreachable", /no such folder.*a folder must be there first/],
    [path.join(folder, "folder.db"), "database_unreachable", /it is a folder/],
    [text, "database_unreachable", /another kind of file/],
  ];
  for (const [given, code, says] of cases) {
    const fault = faultOf({ path: given });
    assert.is(fault.code, code);
    assert.match(fault.message, says);
  }
  const typo = path.join(folder, "typo.db");
  for (const migrate of [false, "skip"] as const)
    assert.match(faultOf({ path: typo, migrate }).message, /there is no database file/);
  assert.not(existsSync(typo));
});

/** As somebody who may not write what belongs to others: root may. */
function asNobody<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}

test("a file in a place that cannot be written is told as that, whether it is there or not", () => {
  const shut = path.join(folder, "shut");
  mkdirSync(shut);
  openSqlite({ path: path.join(shut, "there.db") }).file.close();
  chmodSync(path.join(shut, "there.db"), 0o444);
  chmodSync(shut, 0o555);
  chmodSync(folder, 0o755);
  for (const name of ["there.db", "none.db"])
    assert.match(
      asNobody(() => faultOf({ path: path.join(shut, name) })).message,
      /permission denied .*give this user write access to the file and its folder/,
    );
});

test("a file with a damaged page is told with its cause and a remedy", async () => {
  fresh();
  const database = open();
  await database.write((q) => q.run("create table t (id integer primary key, text text)"));
  const rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) select i from n";
  await database.write((q) => q.run(`insert into t select i, hex(randomblob(50)) from (${rows})`));
  await database.close();
  const handle = openSync(file(), "r+");
  const { size } = statSync(file());
  for (let page = size - 20 * 4096; page < size; page += 4096)
    writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, page);
  closeSync(handle);
  const damaged = open({ migrate: "skip" });
  const failed = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "it worked",
      (error: unknown) => (error instanceof AdbindError ? `${error.code}: ${error.message}` : String(error)),
    );
  const told = /^database_failed: the database file failed: a page of it is damaged .*recover/;
  assert.match(await failed(damaged.query((q) => q.rows("select sum(id), max(text) from t"))), told);
  assert.match(await failed(damaged.write((q) => q.run("update t set text = 'x'"))), told);
  damaged.file.close();
});

test("SQLite's own wait for another process is short, whatever the longest wait of a write is", async () => {
  fresh();
  const database = open();
  await database.write((q) => q.run("create table t (id integer)"));
  const ownWait = () => database.file.pragma("busy_timeout", { simple: true }) as number;
  assert.ok(ownWait() <= 50, String(ownWait()));
  const other = holding();
  const written = database.write((q) => q.run("insert into t values (1)"));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.is(ownWait(), 0, "while another writes, a timer asks");
  other.end();
  await written;
  assert.ok(ownWait() > 0 && ownWait() <= 50, "an application's own statements on the handle wait a little");
  await database.close();
});

/** Another process's write transaction, left open. */
const holding = (): { end: () => void } => {
  const other = new Sqlite(file());
  other.exec("begin immediate");
  return {
    end() {
      other.exec("commit");
      other.close();
    },
  };
};

test("while another process writes the event loop goes on, and the write comes through when it has ended", async () => {
  fresh();
  const database = open();
  await database.write((q) => q.run("create table t (id integer)"));
  const other = holding();
  const written = database.write((q) => q.run("insert into t values (1)"));
  let turns = 0;
  // Under a wait of SQLite's own there would be none before the five seconds are over.
  while (turns < 20) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    turns += 1;
  }
  assert.equal(database.file.prepare("select * from t").all(), []);
  other.end();
  assert.is(await written, 1);
  assert.equal(database.file.prepare("select id from t").pluck().all(), [1]);
  await database.close();
});

test("another writer that goes on is an error of that call, and the next goes through", async () => {
  fresh();
  const database = open({ busyTimeoutMs: 60 });
  await database.write((q) => q.run("create table t (id integer)"));
  const other = holding();
  const refused = await Promise.allSettled(
    [1, 2].map((id) => database.write((q) => q.run("insert into t values (?)", [id]))),
  );
  for (const result of refused) {
    assert.is(result.status, "rejected");
    const { code, message } = (result as PromiseRejectedResult).reason as AdbindError;
    assert.is(code, "database_busy");
    assert.match(message, /another process has been writing for 60 ms .*nothing was written/);
  }
  other.end();
  await database.write((q) => q.run("insert into t values (3)"));
  assert.equal(database.file.prepare("select id from t").pluck().all(), [3]);
  await database.close();
});

test("work that meets a promise is refused, and nothing of it stays", async () => {
  fresh();
  const database = open();
  await database.write((q) => q.run("create table t (id integer)"));
  const waiting = database.write(function* (q): Coroutine<void> {
    yield* q.run("insert into t values (1)");
    yield* wait(Promise.resolve());
  });
  assert.is(await waiting.catch((error: AdbindError) => error.code), "store_effect");
  assert.equal(database.file.prepare("select * from t").all(), []);
  await database.close();
});

test("only a transaction that is all of what may be undone does not wait for the disk, and whatever comes after it does", async () => {
  fresh();
  const database = open();
  const { writer, file: handle } = database;
  const level = (): string => ["OFF", "NORMAL", "FULL"][handle.pragma("synchronous", { simple: true }) as number]!;
  assert.equal(await Promise.all([writer.unsynced(level), writer.unsynced(level)]), ["NORMAL", "NORMAL"]);
  assert.is(level(), "FULL");
  assert.equal(await Promise.all([writer.unsynced(level), writer.write(level)]), ["FULL", "FULL"]);
  const fails = writer.unsynced(() => {
    throw new Error("of the work");
  });
  assert.is(await fails.catch(({ message }: Error) => message), "of the work");
  assert.is(level(), "FULL");
  const other = new Sqlite(file());
  other.exec("begin immediate");
  const waits = writer.unsynced(level);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.is(level(), "FULL");
  other.exec("commit");
  assert.is(await waits, "NORMAL");
  other.close();
  await database.close();
});

test("what is asked of a closed database fails, and nothing else does", async () => {
  fresh();
  const database = open();
  const { writer } = database;
  await database.close();
  for (const ask of [() => writer.write(() => 1), () => writer.unsynced(() => 1)])
    assert.match(await ask().then(String, ({ message }: Error) => message), /The database connection is not open/);
});

test("closing commits what was asked for", async () => {
  fresh();
  const database = open();
  const written = database.write((q) => q.run("create table t (id integer)"));
  await database.close();
  await written;
  const again = open();
  assert.equal(again.file.prepare("select * from t").all(), []);
  await again.close();
});

test("a file that is removed or replaced while it is open takes no writes, and does once it is back", async () => {
  fresh();
  const database = open();
  const add = () => database.write((q) => q.run("insert into t values (1)"));
  await database.write((q) => q.run("create table t (id integer)"));
  const refused = async (): Promise<void> => {
    const error = await add().then(
      () => undefined,
      (met: AdbindError) => met,
    );
    assert.is(error?.code, "database_unreachable");
    assert.match(error!.message, /removed or replaced while it was open \(.*\.db\): nothing was written/);
  };
  renameSync(file(), `${file()}-aside`);
  await refused();
  writeFileSync(file(), "");
  await refused();
  renameSync(`${file()}-aside`, file());
  await add();
  await database.close();
  const again = open();
  assert.is(again.file.prepare("select * from t").all().length, 1);
  await again.close();
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
