/** In whose database and schema a transaction of the application is: a sender stores only in its own. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { startPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";
import { statementsOf } from "./statements-of.js";

const postgres = await startPostgres({ fsync: "off" });
test.after(() => postgres.stop());

async function open(url: string) {
  const database = await openPostgres({ url, connections: 2 });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store: { database } });
  await sender.tasks.register(start(), { push });
  const close = async () => {
    await sender.stop();
    await database.close();
  };
  return { database, sender, close, waiting: async () => (await sender.outbox.counts()).waiting };
}

type Opened = Awaited<ReturnType<typeof open>>;

const update = async ({ sender }: Opened, tx: object) => sender.tasks.update("task-1", { status: "working" }, { tx });

/** A library that has no lasting connection object. */
const library = (client: pg.ClientBase) => ({
  query: (text: string, values: unknown[]) => client.query({ text, values }),
});

async function refusedIn(opened: Opened, tx: object): Promise<string> {
  const { code, where, message, remedy } = await thrownBy(() => update(opened, tx));
  assert.equal([code, where], ["transaction_invalid", "tx"]);
  assert.match(remedy ?? "", "search_path");
  return message;
}

const schemaOf = (url: string, schema: string): string => `${url}&options=-c%20search_path%3D${schema}`;

/** A schema for each tenant, and an application's connection beside them. */
async function tenants() {
  const url = await postgres.database();
  const application = new pg.Client(url);
  await application.connect();
  await application.query("create schema north; create schema south");
  const [north, south] = [await open(schemaOf(url, "north")), await open(schemaOf(url, "south"))];
  const inPath = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    await application.query("begin");
    await application.query(`set local search_path to ${path}`);
    const result = await work();
    await application.query("commit");
    return result;
  };
  const close = async () => {
    await application.end();
    await north.close();
    await south.close();
  };
  return { application, north, south, inPath, close };
}

test("a transaction whose search_path finds another tenant's schema is refused, whatever runs its statements", async () => {
  const { application, north, south, inPath, close } = await tenants();
  for (const tx of [application, library(application)]) {
    for (const path of ["public", "south", "south, north"]) {
      const message = await inPath(path, () => refusedIn(north, tx));
      assert.match(message, "schema north of the database");
      assert.match(message, path === "public" ? "no schema with an outbox" : "schema south of the database");
    }
  }
  assert.equal([await north.waiting(), await south.waiting()], [0, 0]);
  for (const tx of [application, library(application)]) {
    await inPath("north, south", () => update(north, tx));
    await inPath("south", () => update(south, tx));
  }
  assert.equal([await north.waiting(), await south.waiting()], [2, 2]);
  await close();
});

interface Wired {
  readonly connection: {
    emit(event: "parameterStatus", message: object): void;
    removeAllListeners(event: "parameterStatus"): void;
  };
}

test("a connection whose search_path was seen to change is asked in each call, where no server tells", async () => {
  const { application, north, south, inPath, close } = await tenants();
  await inPath("north", async () => {
    await update(north, application);
    // As before PostgreSQL 18.
    (application as unknown as Wired).connection.removeAllListeners("parameterStatus");
  });
  await inPath("south", () => update(south, application));
  await inPath("south", () => refusedIn(north, application));
  await inPath("north", () => refusedIn(south, application));
  assert.equal([await north.waiting(), await south.waiting()], [1, 1]);
  await close();
});

test("a search_path that was changed after a call that was right is seen where the server tells of it", async () => {
  const { application, north, south, inPath, close } = await tenants();
  const { rows } = await application.query("select current_setting('server_version_num')::int >= 180000 as tells");
  await inPath("north", () => update(north, application));
  if (rows[0].tells) await inPath("south", () => refusedIn(north, application));
  assert.equal([await north.waiting(), await south.waiting()], [1, 0]);
  await close();
});

test("a transaction of another database, or of another server made alike, is refused", async () => {
  const other = await startPostgres({ fsync: "off" });
  const ours = await open(postgres.url);
  const theirs = [await open(await postgres.database()), await open(other.url)];
  for (const one of theirs) {
    const client = await one.database.pool.connect();
    await client.query("begin");
    const message = await refusedIn(ours, client);
    assert.is(message.includes("another server"), one === theirs[1], message);
    await refusedIn(ours, library(client));
    // The transaction is as it was.
    await update(one, client);
    await client.query("commit");
    client.release();
    assert.is(await one.waiting(), 1);
  }
  assert.is(await ours.waiting(), 0);
  for (const one of [ours, ...theirs]) await one.close();
  await other.stop();
});

test("a transaction that takes no writes is refused, whatever runs its statements", async () => {
  const opened = await open(await postgres.database());
  const client = await opened.database.pool.connect();
  for (const tx of [client, library(client)]) {
    await client.query("begin read only");
    const { code, where, message, cause } = await thrownBy(() => update(opened, tx));
    assert.equal([code, where], ["transaction_invalid", "tx"]);
    assert.match(message, "takes no writes");
    assert.is((cause as { code?: string }).code, "25006");
    await client.query("rollback");
  }
  client.release();
  await opened.close();
});

test("a connection is asked once, a library with what it is asked anyway; a restarted server is no other", async () => {
  const url = await postgres.database();
  const opened = await open(url);
  const counted = async (transactionOf: (client: pg.Client) => object, rounds: number): Promise<number[]> => {
    const client = new pg.Client(url);
    await client.connect();
    const counts: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await client.query("begin");
      await client.query("select pg_current_xact_id()");
      counts.push(await statementsOf(client, () => update(opened, transactionOf(client))));
      await client.query("commit");
    }
    await client.end();
    return counts;
  };
  assert.equal(await counted((client) => client, 3), [2, 1, 1]);
  assert.equal(await counted(library, 2), [2, 2]);
  await postgres.restart();
  assert.equal(await counted((client) => client, 2), [2, 1]);
  await opened.close();
});

test("a connection whose server tells that its search_path was changed is asked again", async () => {
  const { application, north, close } = await tenants();
  await application.query("set search_path to north");
  await application.query("begin");
  const counted = () => statementsOf(application, () => update(north, application));
  assert.equal([await counted(), await counted()], [2, 1]);
  // What a server of PostgreSQL 18 sends by itself.
  const { connection } = application as unknown as Wired;
  const told = (parameterName: string) => connection.emit("parameterStatus", { parameterName, parameterValue: "x" });
  told("TimeZone");
  assert.is(await counted(), 1);
  told("search_path");
  assert.equal([await counted(), await counted()], [2, 1]);
  await application.query("commit");
  await close();
});

test("transactions that have all connections of the store's own pool wait for none", async () => {
  const opened = await open(await postgres.database());
  const { pool } = opened.database;
  await opened.sender.tasks.register(start({ taskId: "task-2" }), { push });
  const clients = [await pool.connect(), await pool.connect()];
  await Promise.all(
    clients.map(async (client, at) => {
      await client.query("begin");
      await opened.sender.tasks.update(`task-${at + 1}`, { status: "working" }, { tx: client });
      await client.query("commit");
      client.release();
    }),
  );
  assert.is(await opened.waiting(), 2);
  await opened.close();
});

test.run();
