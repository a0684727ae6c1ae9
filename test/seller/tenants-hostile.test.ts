/** Tenants of one process, of whom one does all the harm it can: the others are answered, by their own, and in time. */
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createSeller, createTenants, type Seller, type Tenants, tokenAuth } from "../../runtime/seller/index.js";
import { type AnyStore, openSqliteStore } from "../../runtime/store/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { buyRequest, newBench, sellerOptions } from "./fixture.js";

interface Held {
  tenants: Tenants;
  server: Server;
  stores: AnyStore[];
  /** What nobody caught meanwhile. */
  uncaught: unknown[];
  listen: (reason: unknown) => void;
}

const test = suite<Held>("hostile tenants", {} as Held);
const validator = await createValidator(release);
/** Everybody's callers have the same name and token: what is one's is so by the tenant alone. */
const TOKEN = "token-of-every-buyer";
const auth = tokenAuth({ tokens: { [TOKEN]: "buyer" } });
/**
 * Longest that a call may take on a busy machine, in milliseconds, while another tenant does its worst: less than the five
 * seconds that a removal waits, behind which nobody is to wait.
 */
const SLOWEST_MS = 4_500;

test.before.each((at) => {
  at.tenants = createTenants();
  at.stores = [];
  at.uncaught = [];
  at.listen = (reason) => at.uncaught.push(reason);
  process.on("unhandledRejection", at.listen);
  at.server = createServer(at.tenants.listener).listen(0, "127.0.0.1");
});
test.after.each(async ({ tenants, server, stores, uncaught, listen }) => {
  await tenants.close();
  server.closeAllConnections();
  server.close();
  for (const store of stores) await store.close();
  process.off("unhandledRejection", listen);
  assert.equal(uncaught, []);
});

const named = (name: string) => {
  const { tools } = sellerOptions(newBench());
  const get_products: typeof tools.get_products = async (given, ctx) => {
    const reply = await tools.get_products(given, ctx);
    return { ...reply, data: { ...reply.data, ext: { tenant: name } } } as never;
  };
  return { ...tools, get_products };
};

async function open(at: Held, name: string, over: object = {}): Promise<{ seller: Seller; store: AnyStore }> {
  const store = openSqliteStore({ path: path.join(tempFolder(), `${name}.db`) });
  at.stores.push(store);
  const options = { ...sellerOptions(newBench()), name, store, auth, validator: () => validator, tools: named(name) };
  const seller = (await createSeller({ ...options, limits: { calls: false }, ...over } as never)) as Seller;
  return { seller, store };
}

const add = async (at: Held, name: string, over: object = {}, inFlight = 16) => {
  const opened = await open(at, name, over);
  await at.tenants.add(name, { hosts: [`${name}.example`], seller: opened.seller, inFlight });
  return opened;
};

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** A request of MCP; undefined where the connection ended first. */
const post = ({ server }: Held, tenant: string, body: string): Promise<Answered | undefined> =>
  new Promise((resolve) => {
    const { port } = server.address() as AddressInfo;
    const headers = {
      ...{ host: `${tenant}.example`, "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
      accept: "application/json, text/event-stream",
    };
    const options = { host: "127.0.0.1", port, method: "POST", path: "/mcp", agent: false as const, headers };
    const sent = request(options, async (answer: IncomingMessage) => {
      let text = "";
      try {
        for await (const chunk of answer) text += chunk;
      } catch {
        return resolve(undefined);
      }
      resolve({ status: answer.statusCode!, text });
    });
    sent.once("error", () => resolve(undefined));
    sent.end(body);
  });

const call = (name: string, args: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
const BRIEF = call("get_products", { buying_mode: "brief", brief: "anything" });

/** Calls of a good neighbour, one after the other: each is answered by his own seller. @returns milliseconds of each */
async function neighbour(at: Held, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let times = 0; times < count; times++) {
    const began = performance.now();
    const answered = await post(at, "good", BRIEF);
    took.push(performance.now() - began);
    assert.is(answered?.status, 200, answered?.text.slice(0, 200));
    assert.match(answered!.text, /"tenant":"good"/);
  }
  return took;
}

/** Does harm again and again until it is told to stop. @returns how often */
function again(harm: () => Promise<unknown>, atOnce: number): { stop: () => Promise<number> } {
  let [on, times] = [true, 0];
  const one = async (): Promise<void> => {
    while (on) {
      await harm();
      times += 1;
      await setTimeout(1);
    }
  };
  const all = Promise.all(Array.from({ length: atOnce }, one));
  return {
    async stop() {
      on = false;
      await all;
      return times;
    },
  };
}

const inTime = (took: readonly number[]): void =>
  assert.ok(Math.max(...took) < SLOWEST_MS, `the neighbour waited: ${took.map((ms) => Math.round(ms))}`);

test("a tenant that is flooded, with calls and with bodies too large, costs its neighbour no answer", async (at) => {
  await add(at, "good");
  const slow = named("flooded");
  const get_products: typeof slow.get_products = async (given, ctx) => {
    await setTimeout(20);
    return slow.get_products(given, ctx);
  };
  await add(at, "flooded", { tools: { ...slow, get_products } }, 8);
  const huge = `${BRIEF.slice(0, -1)},"pad":"${"x".repeat(2 * 1024 * 1024)}"}`;
  const statuses = new Set<number | undefined>();
  const tell = async (body: string) => statuses.add((await post(at, "flooded", body))?.status);
  const floods = [again(() => tell(BRIEF), 40), again(() => tell(huge), 4)];
  await until(() => statuses.has(503) && statuses.has(413));
  inTime(await neighbour(at, 20));
  for (const flood of floods) assert.ok((await flood.stop()) > 10);
  for (const status of statuses) assert.ok([200, 413, 503, undefined].includes(status), `${status}`);
  assert.is((await post(at, "flooded", BRIEF))?.status, 200, "and it is there again when the flood is over");
});

test("a tenant whose port never answers is full, and can be removed", async (at) => {
  await add(at, "good");
  let held = 0;
  const never = async () => {
    held += 1;
    await new Promise(() => {});
  };
  await add(at, "hung", { tools: { ...named("hung"), get_products: never } }, 4);
  const calls = Array.from({ length: 4 }, () => post(at, "hung", BRIEF));
  await until(() => held === 4);
  assert.is((await post(at, "hung", BRIEF))?.status, 503);
  inTime(await neighbour(at, 5));
  const removed = at.tenants.remove("hung");
  assert.is((await post(at, "hung", BRIEF))?.status, 421);
  inTime(await neighbour(at, 5));
  const limit = setTimeout(60_000, "still there", { ref: false });
  assert.is(await Promise.race([removed, limit]), true);
  at.server.closeAllConnections();
  await Promise.all(calls);
});

test("a tenant whose database is gone fails by itself, and comes again with another", async (at) => {
  await add(at, "good");
  const { store } = await add(at, "broken");
  const order = () => call("create_media_buy", buyRequest("prod_ctv_evening"));
  assert.is((await post(at, "broken", order()))?.status, 200);
  await store.close();
  for (let times = 0; times < 5; times++) {
    const answered = await post(at, "broken", order());
    assert.ok(answered?.status !== 200 || /"isError":true/.test(answered.text), answered?.text.slice(0, 300));
  }
  inTime(await neighbour(at, 5));
  assert.is(await at.tenants.remove("broken"), true);
  await add(at, "broken");
  assert.is((await post(at, "broken", order()))?.status, 200);
});

test("one's orders and keys are nothing to another, though their buyers have the same name", async (at) => {
  for (const name of ["good", "other"]) await add(at, name);
  const first = buyRequest("prod_ctv_evening");
  const mine = await post(at, "good", call("create_media_buy", first));
  const theirs = await post(at, "other", call("create_media_buy", { ...first, brand: { domain: "other.example" } }));
  for (const answered of [mine, theirs]) {
    assert.is(answered?.status, 200, answered?.text.slice(0, 300));
    assert.not.match(answered!.text, /IDEMPOTENCY_CONFLICT|"replayed":true/);
  }
  const later = await post(at, "good", call("create_media_buy", buyRequest("prod_manual")));
  const [, task] = /"task_id":"([^"]+)"/.exec(later!.text) ?? [];
  assert.ok(task);
  const asked = call("get_task_status", { task_id: task });
  assert.match((await post(at, "good", asked))!.text, /submitted/);
  assert.match((await post(at, "other", asked))!.text, /"isError":true/);
});

test("tenants come and go while their calls are under way, and nobody gets another's answer", async (at) => {
  await add(at, "good");
  const seen = new Set<string>();
  const harm = again(async () => {
    const answered = await post(at, "guest", BRIEF);
    const by = /"tenant":"(\w+)"/.exec(answered?.text ?? "")?.[1] ?? "";
    seen.add(`${answered?.status} ${by}`);
  }, 8);
  for (let times = 0; times < 4; times++) {
    await add(at, "guest");
    await neighbour(at, 2);
    assert.is(await at.tenants.remove("guest"), true);
  }
  assert.ok((await harm.stop()) > 8);
  for (const one of seen) assert.ok(["200 guest", "421 ", "503 ", "undefined "].includes(one), one);
  assert.ok(seen.has("200 guest"));
});

test.run();
