/** Commands on stores: those that only look make and change nothing, and none shows a password. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as inbox } from "../../cli/inbox.js";
import { register as outbox } from "../../cli/outbox.js";
import { register as registry } from "../../cli/registry.js";
import { openStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { codeOf } from "../support/thrown.js";
import { commandFolder, type Ran, runCommand } from "./run-command.js";

const { folder, at, remove } = commandFolder();
const postgres = await sharedPostgres();
delete process.env.ADBIND_STORE;

type Register = typeof inbox;

/** Commands that look at a store. */
const readers: readonly (readonly [Register, ...string[]])[] = [
  [inbox, "list"],
  [outbox, "list"],
  [registry, "orgs", "list"],
  [registry, "users", "list"],
  [registry, "keys", "list"],
  [registry, "members", "list"],
  [registry, "issuer", "keys"],
  [registry, "export", "-"],
];

/** Commands that change what is there, and so need it to be there. */
const changers: readonly (readonly [Register, ...string[]])[] = [
  [inbox, "drop", "1"],
  [inbox, "replay", "1"],
  [outbox, "retry", "1"],
  [outbox, "drop", "1"],
  [registry, "orgs", "set", "o", "--suspend"],
  [registry, "users", "set", "a@b.example", "--suspend"],
  [registry, "keys", "create", "o", "n"],
  [registry, "keys", "revoke", "k"],
  [registry, "keys", "suspend", "k"],
  [registry, "members", "remove", "m"],
  [registry, "agents", "add", "m", "https://a.example"],
  [registry, "hosted", "remove", "news.example"],
  [registry, "issuer", "rotate"],
];

const on = (store: string, [register, ...argv]: readonly [Register, ...string[]]): Promise<Ran> =>
  runCommand(register, [...argv, "--store", store]);

test("a mistyped store is told of, and none is made", async () => {
  for (const command of [...readers, ...changers]) {
    const { code, err } = await on("sqlite:typo.db", command);
    assert.equal([code, /^adbind: there is no database file \(.*typo\.db\): check its name/.test(err)], [1, true], err);
  }
  assert.equal(readdirSync(folder), []);
  const { out } = await runCommand(outbox, ["list", "--json", "--store", "sqlite:typo.db"]);
  const { ok, error } = JSON.parse(out);
  assert.equal([ok, error.code, error.where], [false, "store_missing", at("typo.db")]);
  assert.match(error.remedy, "check its name");
});

test("a file that is no store is told of and left as it is", async () => {
  for (const [name, text, said] of [
    ["empty.db", "", "no store of adbind"],
    ["text.db", "not a database, but long enough to be taken for one".repeat(20), "file is not a database"],
  ] as const) {
    writeFileSync(at(name), text);
    for (const command of [...readers, ...changers]) {
      const { code, err } = await on(`sqlite:${name}`, command);
      assert.equal([code, err.includes(said)], [1, true], err);
      assert.is(readFileSync(at(name), "utf8"), text);
    }
  }
});

test("who only looks changes no byte of a store", async () => {
  await (await openStore(`sqlite:${at("looked.db")}`)).close();
  const before = readFileSync(at("looked.db"));
  for (const command of readers) assert.equal([command, (await on("sqlite:looked.db", command)).code], [command, 0]);
  assert.ok(readFileSync(at("looked.db")).equals(before));
});

test("a store of an older version is read by none, and not brought up to date by who reads", async () => {
  const store = await openStore(`sqlite:${at("old.db")}`);
  await store.database.execute("delete from adbind_migrations where version = 6");
  await store.close();
  const { code, err } = await on("sqlite:old.db", [inbox, "list"]);
  assert.is(code, 1);
  assert.match(err, "lacks schema version 6");
  assert.is(await codeOf(() => openStore(`sqlite:${at("old.db")}`, { access: "read" })), "store_schema");
});

test("a new file is its owner's alone, its log too; one that others can read is left so, with a warning", async () => {
  const store = await openStore(`sqlite:${at("private.db")}`);
  const mode = (name: string): number => statSync(at(name)).mode & 0o777;
  assert.equal(["private.db", "private.db-wal", "private.db-shm"].map(mode), [0o600, 0o600, 0o600]);
  await store.close();
  chmodSync(at("private.db"), 0o644);
  const { code, err } = await on("sqlite:private.db", [inbox, "list"]);
  assert.equal([code, err], [0, "warning: private.db can be read by others; chmod 600 it\n"]);
  assert.is(mode("private.db"), 0o644);
  chmodSync(at("private.db"), 0o660);
  assert.is((await on("sqlite:private.db", [inbox, "list"])).err, "");
});

test("ADBIND_STORE names the store, and a flag wins", async () => {
  await (await openStore(`sqlite:${at("named.db")}`)).close();
  process.env.ADBIND_STORE = "sqlite:named.db";
  for (const [register, ...argv] of readers) assert.is((await runCommand(register, argv)).code, 0, argv.join(" "));
  assert.match((await on("sqlite:typo.db", [inbox, "list"])).err, "typo.db");
  process.env.ADBIND_STORE = "postgres://u:hidden@127.0.0.1:1/x?password=hidden";
  const { out, err } = await runCommand(inbox, ["list", "--json"]);
  const help = await runCommand(inbox, ["list", "--help"]);
  for (const text of [out, err, help.out]) assert.not.match(text, "hidden");
  delete process.env.ADBIND_STORE;
  const none = await runCommand(inbox, ["list"]);
  assert.equal([none.code, none.err], [2, "adbind: no store is named: give --store <url>, or set ADBIND_STORE\n"]);
});

test("a database that cannot be opened is told of with the cause, and without its password", async () => {
  const { code, err, out } = await runCommand(inbox, [
    "list",
    "--json",
    "--store",
    "postgres://u:hidden@127.0.0.1:1/x",
  ]);
  assert.is(code, 1);
  assert.match(err, /the database cannot be opened: nothing listens there \(127\.0\.0\.1:1\/x\): start it/);
  assert.match(JSON.parse(out).error.cause, "ECONNREFUSED");
  const gone = (await postgres.database()).replace(/test_\w+/, "gone");
  assert.match(
    (await on(gone, [inbox, "list"])).err,
    /there is no such database \(127\.0\.0\.1:\d+\/gone\): create it/,
  );
  const wrong = (await postgres.database()).replace(":adbind@", ":hidden@");
  for (const text of [err, out, (await on(wrong, [inbox, "list"])).err]) assert.not.match(text, "hidden");
});

async function schemas(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    "select table_schema || '.' || table_name as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema') order by 1",
  );
  await client.end();
  return rows.map(({ name }: { name: string }) => name);
}

test("on PostgreSQL too: nothing is made where none is, nothing is started where one is", async () => {
  const url = await postgres.empty();
  for (const command of [...readers, ...changers]) {
    const { code, err } = await on(url, command);
    assert.equal([code, /holds no store of adbind \(127\.0\.0\.1/.test(err)], [1, true], err);
  }
  assert.equal(await schemas(url), []);
  await (await openStore(url)).close();
  const before = await schemas(url);
  for (const command of readers) assert.equal([command, (await on(url, command)).code], [command, 0]);
  assert.equal(await schemas(url), before);
  assert.ok(before.length > 0 && !before.some((name) => name.startsWith("adbind_boss")));
});

test("what makes a store still makes one", async () => {
  assert.is((await on("sqlite:made.db", [registry, "orgs", "create", "Mine"])).code, 0);
  assert.ok(existsSync(at("made.db")));
  assert.is((await on("sqlite:no/folder.db", [registry, "orgs", "create", "Mine"])).code, 1);
});

test.after(async () => {
  await postgres.stop();
  remove();
});
test.run();
