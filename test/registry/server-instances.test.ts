/** Two instances on one PostgreSQL: what one knows the other knows, and one may go while requests come. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openPostgresStore } from "../../runtime/store/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { fromSource } from "../runner/from-source.js";
import { sharedPostgres, startPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { bearer, setupRegistry } from "./server-fixture.js";
import { getWith, withTwo } from "./server-two.js";
import { crawlOf, NEWS, SELLER, seedWorld } from "./server-world.js";

const root = path.resolve(import.meta.dirname, "../..");
const SEARCH = "/api/registry/agents/search";

const instances = suite("two instances");
let cluster: TestDatabases;

instances.before(async () => {
  cluster = await sharedPostgres();
});
instances.after(() => cluster.stop());

instances("what one is told the other answers by at once", async () =>
  withTwo(await cluster.database(), async ([a, b], { key, id }) => {
    const get = getWith(key);
    const [first, second] = [await get(a, SEARCH), await get(b, SEARCH)];
    assert.is(first.statusCode, 200, first.body);
    assert.is(first.body, second.body);

    await a.registry.data.applyCrawl(
      crawlOf("late.example", [{ agentUrl: SELLER, authorizedFor: "x", authorizationType: null }], []),
    );
    const publishers = `/api/registry/agents/${encodeURIComponent(SELLER)}/publishers`;
    assert.is((await get(b, publishers)).body, (await get(a, publishers)).body);
    assert.match((await get(b, publishers)).body, "late.example");
    assert.is(
      (await get(b, SEARCH)).json().results[0].publisher_count,
      (await get(a, SEARCH)).json().results[0].publisher_count,
    );

    assert.ok(await a.accounts.revokeKey(id));
    assert.is((await get(b, SEARCH)).statusCode, 401, "revoked here is revoked there");
  }),
);

instances("two instances count a caller's lookups in one window", async () =>
  withTwo(await cluster.database(), async ([a, b], { key }) => {
    const get = getWith(key);
    const lookup = `/api/registry/publisher?domain=${NEWS}`;
    const statuses = [await get(a, lookup), await get(b, lookup), await get(a, lookup), await get(b, lookup)];
    assert.equal(
      statuses.map(({ statusCode }) => statusCode),
      [200, 200, 200, 429],
    );
  }),
);

instances("two instances have one issuer: its keys, and a log-in that goes on at the other", async () =>
  withTwo(await cluster.database(), async ([a, b]) => {
    const jwks = [a, b].map(async ({ registry }) => (await registry.app.inject("/oauth/jwks")).body);
    assert.is(await jwks[0], await jwks[1], "a token of one is a token of both");
    const registered = await a.registry.app.inject({
      method: "POST",
      url: "/oauth/register",
      headers: { "content-type": "application/json" },
      payload: '{"redirect_uris":["http://127.0.0.1:1/cb"]}',
    });
    const query = new URLSearchParams({
      client_id: registered.json().client_id,
      response_type: "code",
      redirect_uri: "http://127.0.0.1:1/cb",
      scope: "openid",
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
    });
    const begun = await b.registry.app.inject(`/oauth/authorize?${query}`);
    assert.match(String(begun.headers.location), /^\/oauth\/interaction\//);
    const cookie = begun.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const shown = await a.registry.app.inject({ url: String(begun.headers.location), headers: { cookie } });
    assert.match(shown.body, /<label for="password">/);
  }),
);

instances("a database that goes away is 503 everywhere, and /readyz names it", async () => {
  const own = await startPostgres({ fsync: "off" });
  const store = await openPostgresStore({ url: await own.database() });
  const setup = await setupRegistry({ store, now: Date.now });
  const { id } = await setup.accounts.addOrganization({ name: "O" });
  const { key } = await setup.accounts.addKey(id, "k");
  await seedWorld(setup.registry.data, id);
  await own.stop();
  const order = { agent_url: SELLER, publisher_properties: [{ publisher_domain: NEWS }] };
  const answers = await Promise.all([
    setup.registry.app.inject(`/api/registry/publisher?domain=${NEWS}`),
    setup.registry.app.inject({ url: SEARCH, headers: bearer(key) }),
    setup.registry.app.inject("/api/registry/stats"),
    setup.registry.app.inject({ method: "POST", url: "/api/registry/expand/product-identifiers", payload: order }),
    setup.registry.app.inject(`/publisher?domain=${NEWS}`),
    setup.registry.app.inject("/readyz"),
  ]);
  assert.equal(
    answers.map(({ statusCode }) => statusCode),
    [503, 503, 503, 503, 503, 503],
  );
  for (const answer of answers.slice(0, 5)) assert.is(answer.headers["retry-after"], "5");
  assert.is(answers[5]!.json().checks.store, "does not answer");
  assert.is((await setup.registry.app.inject("/healthz")).statusCode, 200);
  assert.is((await setup.registry.app.inject("/openapi.json")).statusCode, 200);
  await setup.close();
  await store.close();
});

interface Instance {
  readonly port: number;
  child: ChildProcess;
}

async function startInstance(store: string, port: number): Promise<ChildProcess> {
  const flags = [...fromSource, path.join(root, "cli/main.ts"), "registry", "serve"];
  const settings = [
    "--store",
    store,
    "--port",
    String(port),
    "--drain",
    "2",
    "--crawl",
    "off",
    "--limit-publisher",
    "0",
  ];
  const child = spawn(process.execPath, [...flags, ...settings, "--limit-reads", "0", "--log-level", "silent"], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of child.stdout!) if (String(chunk).includes("curl")) break;
  return child;
}

interface Proxy {
  readonly port: number;
  /** Why it could not pass a request on; it answered 502. */
  readonly faults: readonly string[];
  /** Until it has asked this instance anew, and seen that it is ready. */
  knows(port: number): Promise<void>;
  stop(): Promise<void>;
}

interface Readiness {
  readonly checks: Readonly<Record<"store" | "search" | "server", string>>;
}

/** What a proxy knows of its instances, by asking each whether it is ready, one question at a time. */
function watchInstances(ports: readonly number[]) {
  const ready = new Set<number>();
  /** How often each was asked, and what it said last. */
  const checks = new Map<number, number>();
  const said = new Map<number, string>();
  const check = async (port: number): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (response) => ({ ok: response.ok, ...((await response.json()) as Readiness) }),
      ({ cause }: Error) => ({ refused: (cause as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED" }),
    );
    said.set(port, JSON.stringify(answer));
    // A kept connection that the server closed meanwhile says nothing of the server.
    if ("refused" in answer ? answer.refused : answer.checks.server !== "ok" || answer.checks.search !== "ok")
      ready.delete(port);
    else if ("ok" in answer && answer.ok) ready.add(port);
    checks.set(port, (checks.get(port) ?? 0) + 1);
  };
  let watching = true;
  const watch = async (port: number): Promise<void> => {
    for (; watching; await sleep(100)) await check(port);
  };
  const watched = Promise.all(ports.map(watch));
  const knows = async (port: number): Promise<void> => {
    // The answer that comes next may be to a question put before the instance was there.
    const fresh = (checks.get(port) ?? 0) + 2;
    await until(
      () => (checks.get(port) ?? 0) >= fresh && ready.has(port),
      () => `${port} is ready: ${said.get(port)}`,
    );
  };
  return {
    ready,
    said,
    knows,
    async stop(): Promise<void> {
      watching = false;
      await watched;
    },
  };
}

/**
 * A proxy as simple as can be: it takes turns among the instances that are ready, keeps connections, and tries nothing
 * twice. An instance is gone when it says that it stops or starts, or refuses a connection; not when this process was too
 * busy to read the answer in time, nor when the store of all of them was.
 */
async function startProxy(ports: readonly number[]): Promise<Proxy> {
  const faults: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const instances = watchInstances(ports);
  await Promise.all(ports.map(instances.knows));
  let turn = 0;
  const server = createServer((request, response) => {
    const choices = [...instances.ready];
    const fail = (reason: string): void => {
      faults.push(reason);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    };
    if (choices.length === 0) return fail(`no instance is ready: ${[...instances.said.values()].join(" and ")}`);
    turn += 1;
    const port = choices[turn % choices.length]!;
    const upstream = httpRequest(
      { host: "127.0.0.1", port, path: request.url, method: request.method, agent },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", (error) => fail(`${port}: ${error.message}, a kept connection: ${upstream.reusedSocket}`));
    request.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    faults,
    knows: instances.knows,
    async stop() {
      await instances.stop();
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

instances("a rolling restart under load answers every request", async () => {
  const url = await cluster.database();
  const store = await openPostgresStore({ url });
  const seeding = await setupRegistry({ store });
  await seedWorld(seeding.registry.data, "org");
  await seeding.close();
  await store.close();

  const running: Instance[] = [];
  for (const port of [await freePort(), await freePort()])
    running.push({ port, child: await startInstance(url, port) });
  const proxy = await startProxy(running.map(({ port }) => port));
  const statuses = new Map<number | string, number>();
  let loading = true;
  const places = [`/api/registry/publisher?domain=${NEWS}`, "/api/registry/stats", "/publisher?domain=news.example"];
  const client = async (at: number): Promise<void> => {
    for (let made = at; loading; made += 1) {
      const outcome = await fetch(`http://127.0.0.1:${proxy.port}${places[made % places.length]}`).then(
        (response) => response.arrayBuffer().then(() => response.status),
        (error: Error) => error.message,
      );
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      await sleep(20); // two hundred requests a second of four: every step of a restart meets many
    }
  };
  const load = Promise.all([0, 1, 2, 3].map(client));
  try {
    for (const instance of running) {
      const ended = once(instance.child, "exit");
      instance.child.kill("SIGTERM");
      assert.equal(await ended, [0, null]);
      instance.child = await startInstance(url, instance.port);
      await proxy.knows(instance.port);
    }
  } finally {
    loading = false;
    await load;
    await proxy.stop();
    for (const { child } of running) child.kill("SIGKILL");
  }
  console.log(`${statuses.get(200)} requests answered`);
  assert.equal(proxy.faults, []);
  assert.equal([...statuses.keys()], [200], JSON.stringify([...statuses]));
  assert.ok(statuses.get(200)! > 200);
});

instances.run();
