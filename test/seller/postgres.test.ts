import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { sql } from "../../runtime/db/postgres/sql.js";
import type { Seller } from "../../runtime/seller/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import type { Tx } from "../../runtime/store/postgres/tables.js";
import { FakeNetwork, NOW, optionsFor } from "../sender/fixture.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { accountChangesCase } from "./account-changes.case.js";
import { buyRequest, call, newBench, openSeller, sellerOptions, settled } from "./fixture.js";
import { heldCase } from "./held.case.js";
import { idempotencyCase } from "./idempotency.case.js";
import { namesOfSellersCase } from "./names.case.js";
import { principalsCase } from "./principals.case.js";
import { resumedCase } from "./resumed.case.js";
import type { SellerCase } from "./store-suite.js";
import { taskRacesCase } from "./task-races.case.js";
import { tasksCase } from "./tasks.case.js";

const postgres = await sharedPostgres();
/** Ends all connections to a database but the one that says so. */
const ENDED =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

const of = {
  name: "seller on postgres",
  async open() {
    const store = await openPostgresStore({ url: await postgres.database(), connections: 8 });
    await sql`create table notes (text text not null)`.run(store.database);
    return store;
  },
  note: async (tx: Tx, text: string) => {
    await sql`insert into notes values (${text})`.run(tx);
  },
  within: (store: PostgresStore, work: (tx: Tx) => unknown) =>
    store.database.transaction(async (tx) => {
      await work(tx as never);
    }),
  notes: async (store: PostgresStore) =>
    (await sql<{ text: string }>`select text from notes`.rows(store.database)).map(({ text }) => text),
} as unknown as SellerCase;

accountChangesCase(of);
idempotencyCase(of);
namesOfSellersCase(of);
principalsCase(of);
resumedCase(of);
taskRacesCase(of);
heldCase(of);
tasksCase(of);

test("while a database takes no writes, or ends its connections, callers are told to come again", async () => {
  const url = await postgres.database();
  const store = await openPostgresStore({ url, connections: 2 });
  const seller = await openSeller(newBench(), { store });
  const name = new URL(url).pathname.slice(1);
  await runStatements(url, `alter database ${name} set default_transaction_read_only = on`, ENDED);
  const codes = ({ proto_error: { code, recovery } }: { proto_error: Record<string, string> }) => [code, recovery];
  const again = ["SERVICE_UNAVAILABLE", "transient"];
  assert.equal(codes(await call(seller, "create_media_buy", buyRequest())), again);
  await runStatements(
    url,
    "set default_transaction_read_only = off",
    `alter database ${name} reset default_transaction_read_only`,
    ENDED,
  );
  await store.database.transaction(async (tx) => {
    await sql`lock table adbind_calls in access exclusive mode`.run(tx);
    const waiting = call(seller, "create_media_buy", buyRequest());
    await until(
      async () => (await sql<{ n: number }>`select count(*) as n from pg_locks where not granted`.rows(tx))[0]!.n > 0,
    );
    await tx.query(ENDED);
    assert.equal(codes(await waiting), again);
  });
  assert.is((await call(seller, "create_media_buy", buyRequest())).status, "completed");
  await seller.close();
  await store.close();
});

test("of what a handler meets on its database, only what passes is told as such", async () => {
  const url = await postgres.database();
  const store = await openPostgresStore({ url, connections: 2 });
  const client = new pg.Client(url);
  await client.connect();
  const bench = newBench();
  const faults: (() => Promise<unknown>)[] = [
    // A session begun before its server was demoted, and a statement written wrongly.
    async () => {
      await client.query("begin read only");
      await store.database.within(client as never, (q) => q.run("update adbind_calls set lease = 0", []));
    },
    () => client.query("rollback").then(() => client.query("select $1::int", [1, 2])),
    () => client.query("select 1 / 0"),
  ];
  const tools = { ...sellerOptions(bench).tools, get_products: () => faults.shift()!() };
  const seller = await openSeller(bench, { store, tools });
  const told: string[] = [];
  try {
    for (let n = 0; n < 3; n++) {
      const { code, recovery } = (await call(seller, "get_products", { buying_mode: "wholesale" })).proto_error;
      told.push(`${code} ${recovery}`);
    }
  } finally {
    await client.end();
    await seller.close();
    await store.close();
  }
  assert.equal(told, ["SERVICE_UNAVAILABLE transient", "CONFIGURATION_ERROR terminal", "CONFIGURATION_ERROR terminal"]);
});

test("two sellers behind a round robin are one", async () => {
  const url = await postgres.database();
  const clock = { at: NOW };
  const network = new FakeNetwork(clock);
  const bench = newBench();
  const held = Promise.withResolvers<void>();
  bench.gate = held.promise;
  const opened: { store: PostgresStore; sender: Sender; seller: Seller<never>; address: string }[] = [];
  for (let n = 0; n < 2; n++) {
    const store = await openPostgresStore({ url, connections: 4 });
    const sender = await createSender({ ...optionsFor(clock, network), store });
    sender.start();
    const seller = await openSeller<never>(bench, { store, sender, now: () => clock.at });
    opened.push({ store, sender, seller, address: await seller.start() });
  }
  let turn = 0;
  const balancer = createServer((request, response) => {
    turn += 1;
    const target = new URL(request.url ?? "/", opened[turn % 2]!.address);
    const onward = forward(target, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  const { port } = balancer.address() as AddressInfo;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as never);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  const ask = async (name: string, args: object): Promise<any> =>
    (await client.callTool({ name, arguments: args as never })).structuredContent;
  try {
    const push = { url: "https://buyer.example/hooks/a", operation_id: "op-1" };
    const request = buyRequest("prod_later", { push_notification_config: push });
    const answers = await Promise.all(Array.from({ length: 6 }, () => settled(() => ask("create_media_buy", request))));
    assert.is(new Set(answers.map((one) => one.task_id)).size, 1);
    assert.is(bench.runs, 1);
    const [{ task_id: id }] = answers;
    for (let n = 0; n < 4; n++) assert.is((await ask("get_task_status", { task_id: id })).status, "submitted");
    held.resolve();
    await until(() => network.sent.length >= 2);
    await until(async () => (await opened[0]!.sender.outbox.counts()).waiting === 0);
    assert.equal(
      network.sent.map(({ body }) => body.status),
      ["working", "completed"],
    );
    for (let n = 0; n < 4; n++) assert.is((await ask("get_task_status", { task_id: id })).status, "completed");
    const conflict = await ask("create_media_buy", { ...request, end_time: "2026-06-30T23:59:59Z" });
    assert.is(conflict.proto_error.code, "IDEMPOTENCY_CONFLICT");
  } finally {
    await client.close();
    balancer.close();
    for (const { seller, sender, store } of opened) {
      await seller.close();
      await sender.stop();
      await store.close();
    }
  }
});

test.after(() => postgres.stop());
test.run();
