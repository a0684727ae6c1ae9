/** Agents that are asked how they are: over both transports, politely, and only those that everybody may see. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Fetcher, FetchResult } from "../../runtime/net/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { createProber } from "../../runtime/registry/probe/prober.js";
import type { ListedAgent, RegistryData } from "../../runtime/registry/types.js";
import { type Agent, startAgent } from "../support/agent.js";
import { agent, crawl, entry, member, NOW, sqliteEngine } from "./data-fixture.js";

const HOUR_MS = 3_600_000;
const urlOf = (name: string, path = "/mcp"): string => `https://${name}.example${path}`;
const engine = sqliteEngine();
const declared = { supported_protocols: ["media_buy"], media_buy: { features: {} } };
const probes = suite("asking agents");

let mcp: Agent;
let a2a: Agent;
probes.before(async () => {
  const answer = () => ({ payload: declared });
  const tools = ["get_products", "get_proto_capabilities"];
  mcp = await startAgent({ answer, tools });
  a2a = await startAgent({ answer, tools, a2a: "1.0" });
});
probes.after(async () => {
  await mcp.close();
  await a2a.close();
  await engine.stop();
});

/** Sends requests for made-up hosts to agents of the test, as a guarded fetch would. */
class Wire {
  readonly asked: string[] = [];
  readonly answers = new Map<string, () => Promise<FetchResult>>();

  readonly fetch: Fetcher = async (url, request = {}) => {
    const { hostname, pathname } = new URL(url);
    this.asked.push(hostname);
    const answer = this.answers.get(hostname);
    if (answer !== undefined) return answer();
    const to = hostname.startsWith("a2a") ? a2a : mcp;
    const response = await fetch(new URL(pathname, to.url), {
      method: request.method ?? "GET",
      headers: request.headers ?? {},
      ...(request.body !== undefined && { body: request.body }),
    });
    const body = Buffer.from((await response.text()).replaceAll(new URL(to.url).origin, `https://${hostname}`));
    const headers = Object.fromEntries(response.headers);
    return { ok: true, status: response.status, headers, body, truncated: false, url };
  };
}

const status = (code: number) => async (): Promise<FetchResult> => ({
  ...{ ok: true, status: code, headers: {}, body: Buffer.from(""), truncated: false, url: "" },
});
const silent = async (): Promise<FetchResult> => ({
  ok: false,
  code: "address_refused",
  retryable: false,
  detail: "10.0.0.1",
});

async function world() {
  const store = await engine.open();
  const clock = { at: NOW };
  const now = () => clock.at;
  const wire = new Wire();
  const data = createRegistryData(store, { now });
  const given = { store: store.database, fetch: wire.fetch, publicUrl: "https://registry.example", log: undefined };
  const prober = createProber({ ...given, now, random: () => 0.5 });
  return { data, clock, wire, prober };
}

const listed = async (data: RegistryData): Promise<Record<string, ListedAgent>> => {
  const { agents } = await data.listAgents({ limit: 100, properties: false, health: true, capabilities: true });
  return Object.fromEntries(agents.map((one) => [new URL(one.url).hostname.replace(".example", ""), one]));
};

probes("tools, what an agent says it can do, and how it is", async () => {
  const { data, wire, prober } = await world();
  const shown = [agent(urlOf("mcp")), agent(urlOf("hidden"), { visibility: "members_only" })];
  await data.putMember(member("seller", { agents: shown }));
  const found = ["a2a", "locked", "broken", "inside"].map((name) => entry(urlOf(name, name === "a2a" ? "/" : "/mcp")));
  await data.applyCrawl(crawl("news.example", { agents: found }));
  await data.putClaims(urlOf("claims"), [{ publisherDomain: "news.example", authorizedFor: null }]);
  wire.answers.set("locked.example", status(401)).set("broken.example", status(500)).set("inside.example", silent);
  assert.is((await listed(data)).mcp!.health, undefined, "it was not asked yet");
  await prober.look();
  const told = await listed(data);
  const at = new Date(NOW).toISOString();
  for (const name of ["mcp", "a2a"] as const) {
    const { health, capabilities, protocol } = told[name]!;
    assert.is(protocol, name);
    assert.equal(health, { online: true, checked_at: at, last_seen_at: at, response_time_ms: 0, tools_count: 2 });
    assert.equal(
      capabilities!.tools!.map((tool) => tool.name),
      ["get_products", "get_proto_capabilities"],
    );
    assert.equal(capabilities!.declared, declared);
  }
  assert.equal(told.locked!.health, {
    ...{ online: true, checked_at: at, last_seen_at: at, error: "the agent asks for credentials" },
  });
  assert.equal(told.broken!.health, { online: false, checked_at: at, error: "the agent answered with status 500" });
  const { health } = told.inside!;
  assert.equal(health, { online: false, checked_at: at, error: "the agent did not answer as one" });
  assert.not.ok(wire.asked.some((host) => ["hidden.example", "claims.example"].includes(host)));
  assert.is(await data.listedAgent(urlOf("hidden")), undefined);
});

probes("one that is gone is asked ever less often, and keeps what it said", async () => {
  const { data, clock, wire, prober } = await world();
  await data.applyCrawl(crawl("news.example", { agents: [entry(urlOf("mcp"))] }));
  await prober.look();
  wire.answers.set("mcp.example", silent);
  const times: number[] = [];
  for (let hour = 1; hour <= 24 * 12; hour += 1) {
    clock.at = NOW + hour * HOUR_MS;
    const before = wire.asked.length;
    await prober.look();
    if (wire.asked.length > before) times.push(hour);
  }
  assert.equal(times, [6, 12, 24, 48, 96, 192], "every six hours, then twice as long each time");
  const { health, capabilities } = (await listed(data)).mcp!;
  assert.equal([health!.online, health!.last_seen_at], [false, new Date(NOW).toISOString()]);
  assert.is(capabilities!.tools_count, 2);
  await data.applyCrawl(crawl("news.example", { agents: [] }));
  clock.at += 30 * 24 * HOUR_MS;
  const before = wire.asked.length;
  await prober.look();
  assert.is(wire.asked.length, before, "nobody authorizes it any more");
});

probes(
  "agents asked by a clock that was ahead are asked again once it is set back, and new ones are taken up",
  async () => {
    const { data, clock, wire, prober } = await world();
    const times = (host: string): number => wire.asked.filter((one) => one === host).length;
    clock.at = NOW + 365 * 24 * HOUR_MS;
    await data.applyCrawl(crawl("news.example", { agents: [entry(urlOf("mcp"))] }));
    await prober.look();
    const before = times("mcp.example");
    assert.ok(before > 0);
    clock.at = NOW;
    await data.applyCrawl(crawl("news.example", { agents: [entry(urlOf("mcp")), entry(urlOf("mcp2"))] }));
    await prober.look();
    assert.ok(times("mcp.example") > before, "the one from before");
    assert.ok(times("mcp2.example") > 0, "the new one");
  },
);

probes("a file that names thousands at somebody else's address has few of them asked, one at a time", async () => {
  const { data, clock, wire, prober } = await world();
  const many = Array.from({ length: 300 }, (_, at) => entry(`https://a${at}.victim.example/mcp`));
  await data.applyCrawl(crawl("attacker.example", { agents: [...many, entry(urlOf("mcp"))] }));
  const hosts = new Set<string>();
  let most = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    const before = wire.asked.length;
    await prober.look();
    const now = new Set(wire.asked.slice(before).filter((host) => host.endsWith(".victim.example")));
    most = Math.max(most, now.size);
    for (const host of now) hosts.add(host);
    clock.at += 60_000;
  }
  assert.equal([most, hosts.size], [1, 20]);
  assert.ok(wire.asked.includes("mcp.example"), "the others do not wait for them");
});

probes.run();
