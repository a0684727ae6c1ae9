/** Origins that mean harm, over real TLS sockets: they cost a bounded time and a bounded memory, and change nothing. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  createGuardedFetch,
  type Fetcher,
  type GuardedFetchOptions,
  type ResolvedAddress,
} from "../../runtime/net/index.js";
import { type Crawled, crawlDomain } from "../../runtime/registry/crawl/crawl.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { agent, context, file, property } from "./crawl-fixture.js";

const pem = (name: string) => readFileSync(new URL(`../net/fixtures/loopback-test-only.${name}.pem`, import.meta.url));
const DOMAIN = "seller.example.net";
const MIB = 1024 * 1024;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let answer: Answer = () => undefined;
let asked = 0;
const server = createServer({ key: pem("key"), cert: pem("cert") }, (request, response) => {
  if (!request.url!.includes("adagents")) return void response.writeHead(404).end();
  asked += 1;
  answer(request, response);
});

const folder = mkdtempSync(path.join(tmpdir(), "adbind-hostile-"));
let cluster: TestDatabases;
const stores: (SqliteStore | PostgresStore)[] = [];

test.before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cluster = await sharedPostgres();
  stores.push(openSqliteStore({ path: path.join(folder, "store.db") }));
  stores.push(await openPostgresStore({ url: await cluster.database() }));
});
test.after(async () => {
  for (const store of stores) await store.close();
  await cluster.stop();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
test.before.each(() => {
  asked = 0;
});

/** The production fetch with its names led to this machine, and less patience. */
async function crawl(
  given: Answer,
  { patience = { readMs: 5_000, totalMs: 20_000 }, ...options }: GuardedFetchOptions & { patience?: object } = {},
): Promise<Crawled> {
  answer = given;
  const { port } = server.address() as AddressInfo;
  const guarded = createGuardedFetch({
    allowLoopback: true,
    ca: pem("cert").toString(),
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    ...options,
  });
  // Origins speak on 443, which a test cannot have.
  const here = `https://${DOMAIN}:${port}/`;
  const fetch: Fetcher = async (url, request = {}) => {
    const result = await guarded(url.replace(`https://${DOMAIN}/`, here), { ...request, timeouts: patience });
    return result.ok ? { ...result, url: result.url.replace(here, `https://${DOMAIN}/`) } : result;
  };
  try {
    return await crawlDomain(context({ fetch }), DOMAIN);
  } finally {
    await guarded.close();
  }
}

const outcome = ({ result, error }: Crawled): [string, string | null] => [result.adagents.outcome, error];

const send =
  (body: string | Buffer, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status).end(body);

test("an honest origin over the same sockets is read", async () => {
  assert.equal(outcome(await crawl(send(JSON.stringify(file())))), ["valid", null]);
});

test("a body without an end is let go at the limit", async () => {
  let sent = 0;
  const before = process.memoryUsage().rss;
  const endless: Answer = (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const pump = (): void => {
      while (!response.destroyed && sent < 1024 * MIB) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", pump);
      }
    };
    request.socket.on("error", () => undefined);
    pump();
  };
  assert.equal(outcome(await crawl(endless)), ["invalid", `the file is larger than ${10 * MIB} bytes`]);
  assert.ok(sent < 64 * MIB, `${sent} bytes were sent`);
  assert.ok(process.memoryUsage().rss - before < 256 * MIB);
});

test("a length that is a lie, and a compressed bomb", async () => {
  const short = await crawl((_, response) => {
    response.writeHead(200, { "content-length": "1000000" });
    response.write("{");
    setTimeout(() => response.destroy(), 50);
  });
  assert.equal(outcome(short), ["unreachable", "the origin could not be reached"]);
  const bomb = await crawl((_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("x"));
  assert.equal(outcome(bomb), ["unreachable", "the answer is compressed although that was declined"]);
});

test("an origin that is silent, and one that trickles, are given up in time", async () => {
  const late = "the origin did not answer in time";
  const patience = { readMs: 500, totalMs: 1_500 };
  assert.equal(outcome(await crawl(() => undefined, { patience })), ["unreachable", late]);
  const trickle: Answer = (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer));
  };
  assert.equal(outcome(await crawl(trickle, { patience })), ["unreachable", late]);
});

test("redirects in a circle end at the limit", async () => {
  const loop: Answer = (request, response) => void response.writeHead(302, { location: `${request.url}x` }).end();
  assert.equal(outcome(await crawl(loop)), ["unreachable", "there are more redirects than the policy allows"]);
  assert.is(asked, 4);
});

test("a pointer to oneself is followed once", async () => {
  const self = await crawl(
    send(JSON.stringify({ authoritative_location: `https://${DOMAIN}/.well-known/adagents.json` })),
  );
  assert.equal(outcome(self), ["invalid", "authoritative_location points to a file that points on"]);
  assert.is(asked, 2);
});

test("what is no JSON, or JSON of two minds, or without a bottom", async () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const bodies: [string | Buffer, RegExp][] = [
    ["<!doctype html><html><body>Welcome</body></html>", /cannot be read: the body is not JSON/],
    ['{"authorized_agents": [}', /cannot be read/],
    ['{"authorized_agents": [], "authorized_agents": [1]}', /duplicate object keys/],
    [
      '{"authorized_agents": [{"url": "https://a.example", "\\u0075rl": "https://b.example"}]}',
      /duplicate object keys/,
    ],
    [deep, /nests deeper than 64 levels/],
    [`{"authorized_agents": ${deep}}`, /nests deeper than 64 levels/],
    [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), /not valid UTF-8/],
    ["", /cannot be read/],
  ];
  for (const [body, message] of bodies) {
    const crawled = await crawl(send(body));
    assert.match(crawled.error!, message);
    assert.equal([crawled.result.adagents.outcome, crawled.last.adagents.outcome], ["unreachable", "invalid"]);
  }
});

test("names that lead to private places are not dialled, and nothing tells them from names that lead nowhere", async () => {
  let dialled = 0;
  const dial = () => {
    dialled += 1;
    return connect((server.address() as AddressInfo).port, "127.0.0.1");
  };
  const answers: (ResolvedAddress[] | Error)[] = [
    [{ address: "10.0.0.1", family: 4 }],
    [
      { address: "93.184.215.14", family: 4 },
      { address: "169.254.169.254", family: 4 },
    ],
    [{ address: "::ffff:192.168.0.1", family: 6 }],
    [{ address: "fd00::1", family: 6 }],
    [{ address: "127.0.0.1", family: 4 }],
    [],
    new Error("ENOTFOUND"),
  ];
  for (const given of answers) {
    const lookup = async () => {
      if (given instanceof Error) throw given;
      return given;
    };
    const crawled = await crawl(send(JSON.stringify(file())), { lookup, dial, allowLoopback: false });
    assert.equal(outcome(crawled), ["unreachable", "the origin could not be reached"]);
  }
  assert.is(dialled, 0);
  // A redirect and a pointer lead there no better.
  for (const target of ["https://10.0.0.1/", "https://metadata.internal/", `https://www.${DOMAIN}:0/`]) {
    const redirected = await crawl((_, response) => void response.writeHead(302, { location: target }).end());
    assert.is(redirected.result.adagents.outcome, "unreachable");
    const pointed = await crawl(send(JSON.stringify({ authoritative_location: target })));
    assert.equal(outcome(pointed), ["unreachable", "the origin could not be reached"]);
  }
});

test("a name that is public when it is judged and private when it is dialled gets no byte", async () => {
  // Rebinding: the resolver's second answer is never asked for, and where the socket really goes is looked at again.
  let lookups = 0;
  const lookup = async () => {
    lookups += 1;
    return [{ address: lookups % 2 === 1 ? "93.184.215.14" : "127.0.0.1", family: 4 }];
  };
  const crawled = await crawl(send(JSON.stringify(file())), { lookup, allowLoopback: false });
  assert.equal(outcome(crawled), ["unreachable", "the origin could not be reached"]);
  assert.is(asked, 0);
});

test("agents and claims beyond all measure are cut, and what is kept is written on both databases", async () => {
  const many = Array.from({ length: 12_000 }, (_, index) =>
    agent({ url: `https://a${index}.example/\u0000`, authorized_for: "a\u0000b", property_ids: ["home", "\u0000"] }),
  );
  const usable = Array.from({ length: 4_000 }, (_, index) =>
    agent({ url: `https://b${index}.example/`, authorized_for: "a\u0000b\ud800", property_ids: ["home", "\u0000x"] }),
  );
  const claims = agent({
    authorization_type: "publisher_properties",
    publisher_properties: [{ publisher_domains: Array.from({ length: 30_000 }, (_, index) => `v${index}.example`) }],
  });
  const body = JSON.stringify({
    authorized_agents: [claims, ...usable, ...many],
    properties: [property({ name: "a\u0000b" }), property({ property_id: "theirs", publisher_domain: "v1.example" })],
  });
  const { result } = await crawl(send(body));
  const { file: read, problems, outcome: came } = result.adagents;
  assert.equal([came, read?.properties.length, read?.others.length], ["valid", 1, 20_000]);
  assert.ok(read!.agents.length <= 5_000);
  assert.ok(problems.length <= 101);
  for (const store of stores) {
    const data = createRegistryData(store);
    await data.applyCrawl(result);
    const victim = await data.lookupPublisher("v1.example");
    assert.equal([victim.adagents_valid, victim.properties], [null, []], "nothing of it is the other's own word");
    assert.ok(victim.authorized_agents.every(({ source }) => source === "agent_claim"));
    assert.is((await data.lookupPublisher(DOMAIN)).properties.length, 1);
  }
});

test.run();
