/** The client alone: what it sends, what it makes of answers, how it waits; and that it loads nothing of the server. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import nock from "nock";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { createRegistryClient, places, type RegistryClientOptions } from "../../runtime/registry/client.js";
import { readApiDocument } from "../../runtime/registry/server/document.js";
import { fromSource } from "../runner/from-source.js";
import { until } from "../support/until.js";

const BASE = "https://registry.example";
const client = suite("registry client");

client.before(() => nock.disableNetConnect());
client.after.each(() => nock.cleanAll());
client.after(() => nock.enableNetConnect());

function make(options: Partial<RegistryClientOptions> = {}) {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  return { waits, registry: createRegistryClient({ baseUrl: BASE, sleep, random: () => 0.5, ...options }) };
}

client("its operations are the document's", () => {
  const documented = new Map(
    readApiDocument().operations.map(({ id, method, path }) => [id as string, [method, path]]),
  );
  for (const [id, place] of Object.entries(places)) assert.equal(documented.get(id), [...place], id);
  const api = readApiDocument().operations.filter(({ path }) => path.startsWith("/api/registry/"));
  // A client of values reads no streams; the feed's pages say the same.
  const json = api.filter(
    ({ responses }) => (responses["200"] ?? responses["202"])?.content?.["application/json"] !== undefined,
  );
  assert.equal(Object.keys(places).sort(), json.map(({ id }) => id).sort());
});

client("paths, lists and bodies are sent as the document has them", async () => {
  const { registry } = make({ token: async () => "sk_x" });
  const agent = "https://seller.example/mcp?a=1";
  nock(BASE)
    .get(`/api/registry/agents/${encodeURIComponent(agent)}/publishers`)
    .query({ limit: "2", source: "agent_claim" })
    .matchHeader("authorization", "Bearer sk_x")
    .reply(200, { agent_url: agent, publishers: [], cursor: null, has_more: false });
  nock(BASE)
    .get("/api/registry/agents/search")
    .query({ channels: "ctv,display", has_tmp: "true" })
    .reply(200, { results: [] });
  nock(BASE)
    .post("/api/registry/expand/product-identifiers", { agent_url: agent, publisher_properties: [] })
    .reply(200, { properties: [] });
  assert.ok((await registry.listAgentPublishers({ agent_url: agent, limit: 2, source: "agent_claim" })).ok);
  assert.ok((await registry.searchAgents({ channels: ["ctv", "display"], has_tmp: true })).ok);
  assert.ok((await registry.expandProductIdentifiers({ agent_url: agent, publisher_properties: [] })).ok);
  assert.ok(nock.isDone());
});

client("a refusal is a value", async () => {
  nock(BASE).get("/api/registry/publisher").query({ domain: "x" }).reply(400, { error: "Invalid domain" });
  const answer = await make().registry.lookupPublisher({ domain: "x" });
  assert.is(answer.ok, false);
  if (!answer.ok) assert.equal([answer.status, answer.error, answer.code], [400, "Invalid domain", undefined]);
});

client("429 and 503 are asked again after Retry-After, others are not", async () => {
  const { registry, waits } = make();
  nock(BASE).get("/api/registry/stats").reply(429, { error: "Too many requests" }, { "retry-after": "7" });
  nock(BASE).get("/api/registry/stats").reply(503, { error: "late" });
  nock(BASE).get("/api/registry/stats").replyWithError("reset");
  nock(BASE).get("/api/registry/stats").reply(200, { authorizations: 1 });
  const answer = await registry.readStats({});
  assert.ok(answer.ok);
  assert.equal(waits, [7_000, 1_000, 2_000]);
  nock(BASE).get("/api/registry/stats").reply(500, { error: "broken" });
  const broken = await registry.readStats({});
  assert.is(broken.ok === false && broken.status, 500);
  assert.is(waits.length, 3);
});

client("it gives back what asks for a longer wait than it may make, or comes too often", async () => {
  const { registry, waits } = make({ maxWaitMs: 5_000, retries: 1 });
  nock(BASE).get("/api/registry/stats").reply(429, { error: "Too many requests" }, { "retry-after": "6" });
  const long = await registry.readStats({});
  assert.is(long.ok === false && long.retryAfterSeconds, 6);
  assert.equal(waits, []);
  nock(BASE).get("/api/registry/stats").times(2).reply(503, { error: "late" });
  const often = await registry.readStats({});
  assert.is(often.ok === false && often.status, 503);
});

client("a time without a zone is one of GMT, and no time is waited for longer than an hour", async () => {
  const zone = process.env.TZ;
  process.env.TZ = "America/New_York";
  try {
    const { registry } = make({ maxWaitMs: 1, retries: 1 });
    const at = new Date(Date.now() + 60_000);
    const [day, date, month, year, time] = at.toUTCString().split(" ");
    for (const [asked, least, most] of [
      [`${day!.slice(0, 3)} ${month} ${date!.replace(/^0/, " ")} ${time} ${year}`, 57, 61],
      ["99999999999999999999", 3_600, 3_600],
      ["7, 30", 30, 30],
    ] as const) {
      nock(BASE).get("/api/registry/stats").reply(429, { error: "Too many requests" }, { "retry-after": asked });
      const answer = await registry.readStats({});
      const seconds = answer.ok ? undefined : answer.retryAfterSeconds;
      assert.ok(seconds !== undefined && seconds >= least && seconds <= most, `${asked}: ${seconds}`);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

/** A server that answers as its path says; an interceptor cannot hang up or stay silent. */
async function odd(): Promise<{ url: string; seen: string[]; close: () => void }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ""}`);
    if (request.url?.startsWith("/html")) response.end("<html>");
    else if (request.url?.startsWith("/moved")) response.writeHead(302, { location: "/elsewhere" }).end();
    else if (request.url?.startsWith("/gone")) request.socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  nock.enableNetConnect("127.0.0.1");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

client("no JSON, no answer and a redirect are failures, never exceptions", async () => {
  const { url, seen, close } = await odd();
  try {
    const codes: unknown[] = [];
    for (const place of ["html", "moved", "gone", "silent"]) {
      // What answers has the time it needs on a machine with other work.
      const timeoutMs = place === "silent" ? 300 : 30_000;
      const { registry } = make({ baseUrl: `${url}/${place}`, retries: 0, timeoutMs, token: "sk_secret" });
      const answer = await registry.readStats({});
      codes.push(answer.ok === false && answer.code);
    }
    assert.equal(codes, ["not_json", "unreachable", "unreachable", "timeout"]);
    assert.not.ok(
      seen.some((one) => one.startsWith("/elsewhere")),
      "a redirect was followed",
    );
  } finally {
    close();
  }
});

client("lists are read to their end, and a page that fails throws", async () => {
  const { registry } = make({ retries: 0 });
  const page = (results: string[], cursor: string | null) => ({
    results: results.map((agent_url) => ({ agent_url })),
    cursor,
    has_more: cursor !== null,
  });
  nock(BASE)
    .get("/api/registry/agents/search")
    .query({ tags: "a" })
    .reply(200, page(["1", "2"], "c1"));
  nock(BASE)
    .get("/api/registry/agents/search")
    .query({ tags: "a", cursor: "c1" })
    .reply(200, page(["3"], null));
  const seen: string[] = [];
  for await (const agent of registry.agents({ tags: ["a"] })) seen.push(agent.agent_url);
  assert.equal(seen, ["1", "2", "3"]);
  nock(BASE).get("/api/registry/agents/search").reply(401, { error: "Authentication required" });
  try {
    for await (const _ of registry.agents()) assert.unreachable();
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof AdbindError && error.code === "registry_unanswered", String(error));
    assert.match(error.message, "Authentication required");
  }
});

client("an abort is the caller's own", async () => {
  const { url, seen, close } = await odd();
  const stop = new AbortController();
  try {
    const reading = make({ baseUrl: `${url}/silent` }).registry.readStats({}, { signal: stop.signal });
    await until(() => seen.length === 1, "the server was asked");
    stop.abort(new Error("enough"));
    await reading;
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, "enough");
  } finally {
    close();
  }
});

client("loading it loads nothing of the server", () => {
  const program = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found; } });
    await import("adbind/registry/client");
    console.log(JSON.stringify(seen.filter((url) => /fastify|better-sqlite3|kysely|oidc|runtime\\/store/.test(url))));
  `;
  const flags = [...fromSource, "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    cwd: path.resolve(import.meta.dirname, "../.."),
    encoding: "utf8",
  });
  assert.is(stdout.trim(), "[]", stderr);
});

client.run();
