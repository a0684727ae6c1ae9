/** What an application's pool does while the primary of its PostgreSQL dies, is frozen, or becomes a standby. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wait } from "../../runtime/db/coroutine.js";
import { isPassingFault } from "../../runtime/db/open.js";
import { namedHosts } from "../../runtime/db/postgres/hosts.js";
import { PostgresListener } from "../../runtime/db/postgres/listener.js";
import { openPostgres, type PostgresOptions } from "../../runtime/db/postgres/open.js";
import type { AdbindError } from "../../runtime/errors.js";
import { sharedPostgres } from "../support/postgres.js";
import { startRelay } from "../support/relay.js";
import { until } from "../support/until.js";

const postgres = await sharedPostgres();
const url = await postgres.database();
const port = Number(new URL(url).port);
const at = (ports: readonly number[], more = ""): string =>
  url.replace(`127.0.0.1:${port}`, ports.map((one) => `127.0.0.1:${one}`).join(",")) + more;
const open = (more: Partial<PostgresOptions> = {}) =>
  openPostgres({ url, connections: 3, migrate: "skip", connectTimeoutMs: 15_000, ...more });

const faultOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Error) => error,
  );

async function admin(text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}

await admin("create table notes (text text)");
const note = "insert into notes values ('x')";

test("hosts are read as libpq reads them", () => {
  const read = (given: string) => {
    const { url: first, hosts, told } = namedHosts(given);
    return [first, hosts.map(({ host, port: its }) => `${host} ${its}`), told];
  };
  assert.equal(read("postgres://u:p@a:1/d?ssl=true"), ["postgres://u:p@a:1/d?ssl=true", [], ""]);
  assert.equal(read("postgres://u:p@a:1,b,[::1]:3/d"), [
    "postgres://u:p@a:1/d",
    ["a 1", "b 5432", "::1 3"],
    "a:1,b:5432,::1:3",
  ]);
  assert.equal(read("postgres://a/d?target_session_attrs=primary"), ["postgres://a/d", ["a 5432"], "a:5432"]);
  assert.equal(read("postgres://a/d?target_session_attrs=any"), ["postgres://a/d", [], ""]);
  const refused = (): unknown => namedHosts("postgres://a,b/d?target_session_attrs=standby");
  assert.throws(
    refused,
    (error: AdbindError) => error.code === "store_option_invalid" && /standby/.test(error.message),
  );
});

test("how long a connection may take is said in the URL, as libpq has it", async () => {
  const relay = await startRelay(port);
  relay.freeze();
  const fault = await faultOf(openPostgres({ url: at([relay.port], "?connect_timeout=1") }));
  assert.match(fault.message, /did not answer in time/);
  await relay.close();
});

test("of several servers the one that takes writes is used, and after a fail-over the new one", async () => {
  const [first, second] = ["first", "again"].map((end) => `${new URL(url).pathname.slice(1)}_${end}`) as [
    string,
    string,
  ];
  for (const name of [first, second]) await admin(`create database ${name}`);
  const promote = async (primary: string, standby: string): Promise<void> => {
    await admin(`alter database ${primary} set default_transaction_read_only = off`);
    await admin(`alter database ${standby} set default_transaction_read_only = on`);
    await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${standby}'`);
  };
  await promote(first, second);
  // Two servers with one name for the database: names of one length change places in the first message.
  const renamed = (chunk: Buffer): Buffer => Buffer.from(chunk.toString("latin1").replace(first, second), "latin1");
  const [one, other] = await Promise.all([startRelay(port), startRelay(port, renamed)]);
  const place = at([1, other.port, one.port]).replace(new URL(url).pathname, `/${first}`);
  const database = await open({ url: place });
  const where = async (): Promise<string> =>
    ((await database.ask("select current_database() as name", [])).rows[0] as { name: string }).name;
  assert.is(await where(), first);
  assert.is(database.where, `127.0.0.1:1,127.0.0.1:${other.port},127.0.0.1:${one.port}/${first}`);
  const heard: (string | undefined)[] = [];
  database.onNotify("room", (payload) => heard.push(payload));
  await until(() => heard.length === 1);
  await promote(second, first);
  await until(async () => (await where().catch(String)) === second, "the new primary is used");
  await until(() => heard.length >= 2, "the listener listens there");
  await database.query((q) => q.notify("room", "again"));
  await until(() => heard.at(-1) === "again");
  await promote(first, second);
  await admin(`alter database ${first} set default_transaction_read_only = on`);
  one.freeze();
  const began = performance.now();
  const none = await faultOf(open({ url: place, connectTimeoutMs: 60_000 }));
  assert.match(none.message, /takes no writes .*name all servers of the database in the URL/);
  assert.ok(performance.now() - began < 30_000, "a frozen one is not waited for when a standby has answered");
  one.cut();
  await database.close();
  for (const relay of [one, other]) await relay.close();
  for (const name of [first, second]) await admin(`drop database ${name} with (force)`);
});

test("a connection to a demoted primary is thrown away, and its neighbours with it", async () => {
  const database = await open();
  const all = [1, 2, 3].map(() => database.pool.connect());
  for (const client of await Promise.all(all)) {
    await client.query("set default_transaction_read_only = on");
    client.release();
  }
  assert.is(database.pool.idleCount, 3);
  const fault = await faultOf(database.execute(note));
  assert.is((fault as AdbindError).code, "database_unreachable");
  assert.match(fault.message, /takes no writes \(.+\): name all servers/);
  assert.is((fault.cause as pg.DatabaseError).code, "25006");
  assert.ok(isPassingFault(fault), "the caller may ask again");
  for (let turn = 0; turn < 3; turn++) await database.write((q) => q.run(note));
  const inside = await open();
  await inside.ask("set default_transaction_read_only = on", []);
  await faultOf(inside.write((q) => q.run(note)));
  await inside.write((q) => q.run(note));
  for (const one of [database, inside]) await one.close();
});

test("what died while nobody used it costs nobody a transaction", async () => {
  const relay = await startRelay(port);
  const database = await open({ url: at([relay.port]) });
  const fill = async (): Promise<void> => {
    const all = await Promise.all([1, 2, 3].map(() => database.pool.connect()));
    for (const client of all) client.release();
  };
  let begun = 0;
  for (let turn = 0; turn < 5; turn++) {
    await fill();
    relay.cut();
    // In the same turn of the event loop: the driver has not heard of it.
    await database.write(function* (q) {
      begun += 1;
      return yield* q.run(note);
    });
  }
  assert.is(begun, 5, "each was begun once");
  await database.close();
  await relay.close();
});

test("what only reads is read again when its connection is lost; what writes is not", async () => {
  const database = await open();
  const cut = "select pg_terminate_backend(pg_backend_pid())";
  let reads = 0;
  const read = await database.read(function* (q) {
    if (++reads === 1) yield* q.rows(cut);
    return yield* q.rows("select 1 as n");
  });
  assert.equal([read, reads], [[{ n: 1 }], 2]);
  let writes = 0;
  const fault = await faultOf(
    database.write(function* (q) {
      writes += 1;
      yield* q.rows(cut);
    }),
  );
  assert.is(writes, 1);
  assert.ok(isPassingFault(fault));
  await database.close();
});

test("a connection that is reset within a statement is told with its place, and the next one is made anew", async () => {
  const relay = await startRelay(port);
  const database = await open({ url: at([relay.port]) });
  const beside = await open({ connections: 1 });
  const asked = [database.execute("select pg_sleep(20)", []), database.write((q) => q.rows("select pg_sleep(20)"))];
  const faults = Promise.all(asked.map(faultOf));
  await until(async () => {
    const text = "select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(20)'";
    return (await beside.execute(text, [])).length === 2;
  });
  relay.cut();
  for (const fault of await faults) {
    assert.is((fault as AdbindError).code, "database_unreachable", fault.message);
    assert.match(fault.message, /its connection was ended \(read ECONNRESET\) \(127\.0\.0\.1:\d+\/.*\): the next call/);
  }
  await database.execute("select 1", []);
  const foreign = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  const theirs = database.write(() => wait(Promise.reject(foreign)));
  assert.is(await faultOf(theirs), foreign, "what an application's own connection broke by stays its own");
  for (const one of [beside, database]) await one.close();
  await relay.close();
});

test("a server that is frozen is given up by its deadline, with all connections to it, and closing waits for none", async () => {
  const [relay, other] = await Promise.all([startRelay(port), startRelay(port)]);
  other.freeze();
  const database = await open({
    url: at([relay.port, other.port]),
    ...{ statementTimeoutMs: 1_000, deadlineSlackMs: 200, connectTimeoutMs: 10_000 },
  });
  const clients = await Promise.all([1, 2, 3].map(() => database.pool.connect()));
  for (const client of clients) client.release();
  other.thaw();
  relay.freeze();
  // One finds out; the others are made anew, where a server answers.
  assert.ok(isPassingFault(await faultOf(database.execute(note))));
  await database.execute(note);
  await database.write((q) => q.run(note));
  const stuck = await open({ url: at([relay.port]), connectTimeoutMs: 300 }).catch((error: Error) => error);
  assert.match(String(stuck), /did not answer in time/);
  const closing = performance.now();
  await database.close();
  assert.ok(performance.now() - closing < 10_000);
  for (const one of [relay, other]) await one.close();
});

test("whoever listens notices that the server went silent, and listens anew", async () => {
  const relay = await startRelay(port);
  const listener = new PostgresListener({ connectionString: at([relay.port]), connectionTimeoutMillis: 5_000 }, 400);
  const heard: (string | undefined)[] = [];
  listener.on("silence", (payload) => heard.push(payload));
  await until(() => heard.length === 1);
  assert.ok(listener.client !== undefined);
  relay.freeze();
  await until(() => listener.client === undefined, "nobody believes it any more");
  relay.cut();
  relay.thaw();
  await until(
    () => listener.client !== undefined && heard.length >= 2,
    "it listens anew, and says that something may be missed",
  );
  await admin("notify silence, 'here'");
  await until(() => heard.at(-1) === "here");
  await listener.close();
  await relay.close();
});

test("no process ends by an error of connections that nobody uses", async () => {
  const database = await open();
  const stop = database.onNotify("quiet", () => undefined);
  for (const client of await Promise.all([1, 2, 3].map(() => database.pool.connect()))) client.release();
  let uncaught = 0;
  const count = (): void => {
    uncaught += 1;
  };
  process.on("uncaughtException", count);
  const held = await database.pool.connect();
  let gone = false;
  held.once("end", () => {
    gone = true;
  });
  const own = "pid <> pg_backend_pid() and datname = current_database()";
  await admin(`select pg_terminate_backend(pid) from pg_stat_activity where ${own}`);
  await until(() => gone);
  held.release(true);
  await until(() => database.pool.totalCount === 0);
  await database.execute(note);
  process.off("uncaughtException", count);
  assert.is(uncaught, 0);
  stop();
  await database.close();
});

test.after(() => postgres.stop());
test.run();
