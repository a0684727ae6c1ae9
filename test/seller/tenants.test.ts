/** Several sellers in one process: who is answered by whom, what a neighbour cannot take, and how they come and go. */
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import pg from "pg";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { AdbindError } from "../../runtime/errors.js";
import { createSeller, createTenants, type Seller, type Tenants, tokenAuth } from "../../runtime/seller/index.js";
import { type AnyStore, openSqliteStore, openStore } from "../../runtime/store/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { newBench, sellerOptions } from "./fixture.js";

interface Opened {
  readonly seller: Seller;
  readonly store: AnyStore;
}

interface Held {
  tenants: Tenants;
  server: Server;
  opened: Opened[];
  /** Lets the calls that hang be answered. */
  release: () => void;
}

const test = suite<Held>("tenants", {} as Held);
let stopPostgres = async (): Promise<void> => undefined;
test.after(() => stopPostgres());
const validator = await createValidator(release);
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_products", arguments: {} } };
const asked = { buying_mode: "brief", brief: "anything" };

test.before.each((context) => {
  context.tenants = createTenants();
  context.opened = [];
  context.server = createServer(context.tenants.listener).listen(0, "127.0.0.1");
});
test.after.each(async ({ tenants, server, opened, release: answerAll }) => {
  answerAll?.();
  await tenants.close();
  server.closeAllConnections();
  server.close();
  for (const { store } of opened) await store.close();
});

const fileOf = (name: string): string => path.join(tempFolder(), `${name}.db`);

async function open(context: Held, name: string, over: object = {}, file = fileOf(name)): Promise<Seller> {
  return openOn(context, openSqliteStore({ path: file }), { name, ...over });
}

async function openOn(context: Held, store: AnyStore, over: object): Promise<Seller> {
  const options = { ...sellerOptions(newBench()), store, validator: () => validator, ...over };
  const seller = (await createSeller(options as never)) as Seller;
  context.opened.push({ seller, store });
  return seller;
}

/** One that answers nothing before it is let. */
function hanging(context: Held): { readonly over: object; readonly runs: () => number } {
  let runs = 0;
  const gate = new Promise<void>((resolve) => (context.release = resolve));
  const { tools } = sellerOptions(newBench());
  const get_products: typeof tools.get_products = async (given, ctx) => {
    runs += 1;
    await gate;
    return tools.get_products(given, ctx);
  };
  return { over: { tools: { ...tools, get_products } }, runs: () => runs };
}

interface Answered {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

interface Asked {
  readonly host: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const post = ({ server }: Held, { host, target = "/mcp", headers = {}, signal }: Asked): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const accept = "application/json, text/event-stream";
    const options = {
      ...{ host: "127.0.0.1", port, method: "POST", path: target, agent: false as const },
      headers: { host, accept, "content-type": "application/json", ...headers },
      ...(signal !== undefined && { signal }),
    };
    const sent = request(options, async (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      resolve({ status: answer.statusCode!, retryAfter: answer.headers["retry-after"], body });
    });
    sent.once("error", reject);
    sent.end(JSON.stringify({ ...CALL, params: { ...CALL.params, arguments: asked } }));
  });

const card = ({ server }: Held, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const path_ = "/.well-known/agent-card.json";
    const options = { host: "127.0.0.1", port, path: path_, headers: { host }, agent: false as const };
    const sent = request(options, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      resolve(answer.statusCode === 200 ? (JSON.parse(text) as { name: string }).name : `${answer.statusCode}`);
    });
    sent.once("error", reject).end();
  });

const refused = async (work: Promise<unknown>, text: RegExp): Promise<void> => {
  try {
    await work;
  } catch (error) {
    assert.is((error as AdbindError).code, "seller_option_invalid");
    assert.match((error as AdbindError).message, text);
    return;
  }
  assert.unreachable("it was taken");
};

test("the host that a request names decides, however it is written; one that is nobody's is misdirected", async (at) => {
  await at.tenants.add("north", { hosts: ["north.example", "ads.north.example"], seller: await open(at, "North") });
  await at.tenants.add("south", { hosts: ["south.example:8443"], seller: await open(at, "South") });
  for (const host of ["north.example", "NORTH.Example", "north.example.", "north.example:8080", "ads.north.example"])
    assert.is(await card(at, host), "North", host);
  assert.is(await card(at, "south.example:8443"), "South");
  for (const host of ["south.example", "example", "xnorth.example", "north.example,south.example", "a/b", ""])
    assert.is(await card(at, host), "421", host);
  // The target's own host stands before the field.
  assert.is((await post(at, { host: "north.example", target: "http://nobody.example/mcp" })).status, 421);
});

test("who may call one tenant is nobody to the other", async (at) => {
  const withToken = (token: string) => ({ auth: tokenAuth({ tokens: { [token]: "buyer" } } as never) });
  await at.tenants.add("north", {
    hosts: ["north.example"],
    seller: await open(at, "North", withToken("token-of-north-1")),
  });
  await at.tenants.add("south", {
    hosts: ["south.example"],
    seller: await open(at, "South", withToken("token-of-south-1")),
  });
  const headers = { authorization: "Bearer token-of-north-1" };
  assert.is((await post(at, { host: "north.example", headers })).status, 200);
  assert.is((await post(at, { host: "south.example", headers })).status, 401);
  // A field that a caller may send himself chooses nobody, unless a proxy is said to be in front.
  const forged = { ...headers, "x-forwarded-host": "north.example" };
  assert.is((await post(at, { host: "south.example", headers: forged })).status, 401);
});

test("a tenant whose calls all hang is told to come later, and its neighbour is answered", async (at) => {
  const { over, runs } = hanging(at);
  await at.tenants.add("north", { hosts: ["north.example"], seller: await open(at, "North", over), inFlight: 3 });
  await at.tenants.add("south", { hosts: ["south.example"], seller: await open(at, "South") });
  const leaving = new AbortController();
  const held = [0, 1].map(() => post(at, { host: "north.example" }));
  const gone = post(at, { host: "north.example", signal: leaving.signal }).catch(() => undefined);
  await until(() => runs() === 3);
  const beyond = await Promise.all(Array.from({ length: 20 }, () => post(at, { host: "north.example" })));
  assert.equal([...new Set(beyond.map(({ status, retryAfter }) => `${status} ${retryAfter}`))], ["503 1"]);
  assert.is((await post(at, { host: "south.example" })).status, 200);
  assert.is(runs(), 3);
  // Who leaves makes room.
  leaving.abort();
  await gone;
  let next: Promise<Answered> | undefined;
  await until(async () => {
    const answer = post(at, { host: "north.example" });
    const first = await Promise.race([answer, until(() => runs() === 4).then(() => "runs")]);
    next = answer;
    return first === "runs";
  });
  at.release();
  for (const { status } of await Promise.all([...held, next!])) assert.is(status, 200);
});

test("a tenant that is removed finishes what is under way, and may come again", async (at) => {
  const { over, runs } = hanging(at);
  const file = fileOf("north");
  await at.tenants.add("north", { hosts: ["north.example"], seller: await open(at, "North", over, file) });
  const held = post(at, { host: "north.example" });
  await until(() => runs() === 1);
  const removing = at.tenants.remove("north");
  assert.is((await post(at, { host: "north.example" })).status, 421);
  at.release();
  assert.is((await held).status, 200);
  assert.is(await removing, true);
  assert.is(await at.tenants.remove("north"), false);
  assert.equal(at.tenants.names, []);
  await at.tenants.add("north", { hosts: ["north.example"], seller: await open(at, "North again", {}, file) });
  assert.is(await card(at, "north.example"), "North again");
});

test("a database, a host and a name have one tenant, and what is refused takes nothing", async (at) => {
  const file = fileOf("shared");
  await at.tenants.add("north", { hosts: ["north.example"], seller: await open(at, "North", {}, file) });
  const second = await open(at, "Second", {}, file);
  await refused(at.tenants.add("second", { hosts: ["second.example"], seller: second }), /database of north/);
  const third = await open(at, "Third");
  await refused(at.tenants.add("north", { hosts: ["third.example"], seller: third }), /there is a tenant north/);
  await refused(
    at.tenants.add("third", { hosts: ["third.example", "North.Example"], seller: third }),
    /another tenant's/,
  );
  for (const hosts of [[], [""], ["https://third.example"], ["a b"]])
    await refused(at.tenants.add("third", { hosts, seller: third }), /host/);
  await refused(at.tenants.add("third", { hosts: ["third.example"], seller: third, inFlight: 0 }), /0 requests/);
  // Two at once: one of them is first.
  const fourth = await open(at, "Fourth");
  const both = ["a", "b"].map((name) => at.tenants.add(name, { hosts: [`${name}.example`], seller: fourth }));
  const ends = (await Promise.allSettled(both)).map(({ status }) => status).sort();
  assert.equal(ends, ["fulfilled", "rejected"]);
  await at.tenants.add("third", { hosts: ["third.example"], seller: third });
  assert.is(await card(at, "third.example"), "Third");
  assert.is(await card(at, "second.example"), "421");
  assert.is(await card(at, "north.example"), "North");
});

test("tenants share a PostgreSQL by schemas of their own", async (at) => {
  const cluster = await sharedPostgres();
  stopPostgres = cluster.stop;
  const url = await cluster.database();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  for (const name of ["north", "south"]) {
    await admin.query(`create schema ${name}`);
    const store = await openStore(`${url}&options=${encodeURIComponent(`-c search_path=${name}`)}`);
    await at.tenants.add(name, { hosts: [`${name}.example`], seller: await openOn(at, store, { name }) });
  }
  assert.is(await card(at, "south.example"), "south");
  const { rows } = await admin.query(
    "select count(distinct body) as n from (select body from north.adbind_documents union all select body from south.adbind_documents) b",
  );
  assert.is(Number(rows[0].n), 2);
  await admin.end();
});

test("a server that speaks fetch is answered alike, and an answer that nobody reads on is over", async (at) => {
  await at.tenants.add("north", { hosts: ["north.example"], seller: await open(at, "North"), inFlight: 1 });
  const get = (host: string) => at.tenants.fetch(new Request(`https://${host}/.well-known/agent-card.json`));
  assert.is((await get("nobody.example")).status, 421);
  const unread = await get("north.example");
  assert.is((await get("north.example")).status, 503);
  await unread.body!.cancel();
  for (let times = 0; times < 3; times++) {
    const answer = await get("north.example");
    assert.is(answer.status, 200);
    assert.is(((await answer.json()) as { name: string }).name, "North");
  }
});

test.run();
