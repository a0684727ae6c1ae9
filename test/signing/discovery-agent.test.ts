/** An agent's keys by its release and its URL: asked over either transport, looked for as the release has it, pinned. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { Fact, Release } from "../../runtime/contract/index.js";
import type { FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import { type AgentKeysOptions, agentKeys, askIdentity } from "../../runtime/signing/discovery/index.js";
import { AGENT, BRAND, codeOf, JWKS, key, type Page, PIN, web } from "./discovery-site.js";

const identity = { brand_json_url: BRAND, key_origins: { webhook_signing: new URL(JWKS).origin } };
const A2A = "https://agent.seller.example.com/a2a";
const besideCard = `${A2A}/.well-known/agent-card.json`;
const rootCard = "https://agent.seller.example.com/.well-known/agent-card.json";
const interfaces = (...versions: string[]) =>
  versions.map((protocolVersion) => ({ url: A2A, protocolBinding: "JSONRPC", protocolVersion }));
const answered = (result: object): object => ({ jsonrpc: "2.0", id: 1, result });
const task = (data: object, state = "TASK_STATE_COMPLETED") =>
  answered({ task: { id: "1", status: { state }, artifacts: [{ parts: [{ text: "told" }, { data }] }] } });
const legacyTask = (data: object) =>
  answered({ kind: "task", id: "1", status: { state: "completed" }, artifacts: [{ parts: [{ kind: "data", data }] }] });
const notMcp = { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "no such method" } };

/** An agent over A2A: its messages are answered, what else it is sent is no method it has. */
function a2aAgent(cards: Record<string, Page>, reply: object, told?: GuardedRequest[]) {
  const site = web(cards);
  return async (url: string, request?: GuardedRequest): Promise<FetchResult> => {
    if (request?.body === undefined) return site.fetch(url, request);
    const { method } = JSON.parse(String(request.body));
    const ours = url === A2A && ["SendMessage", "message/send"].includes(method);
    if (ours) told?.push(request);
    return web({ [url]: ours ? reply : notMcp }).fetch(url, request);
  };
}

const failed = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "it is taken",
    (error: Error) => error.message,
  );

test("an agent that speaks A2A alone is asked over it, by the card under its URL", async () => {
  const told: GuardedRequest[] = [];
  const extensions = [{ uri: "https://example.org/v3", required: true }, { uri: "https://example.org/other" }];
  const card = { supportedInterfaces: interfaces("1.0", "0.3"), capabilities: { extensions } };
  const fetch = a2aAgent({ [besideCard]: card }, task({ identity }), told);
  const expected = { brandUrl: BRAND, keyOrigins: identity.key_origins };
  assert.equal(await askIdentity({ agentUrl: A2A, fetch, word: "acme" })(), expected);
  const { method, params } = JSON.parse(String(told[0]?.body));
  assert.equal([method, params.message.role], ["SendMessage", "ROLE_USER"]);
  assert.equal(params.message.parts, [{ data: { skill: "get_acme_capabilities", input: {} } }]);
  assert.is(told[0]?.headers?.["a2a-version"], "1.0");
  assert.is(told[0]?.headers?.["a2a-extensions"], "https://example.org/v3");
  assert.is(told[0]?.maxBytes, 65_536);
});

test("the card may be at the origin, and have the older version alone", async () => {
  for (const card of [{ url: A2A, protocolVersion: "0.3.0" }, { supportedInterfaces: interfaces("0.3") }]) {
    const told: GuardedRequest[] = [];
    const fetch = a2aAgent({ [rootCard]: card }, legacyTask({ identity }), told);
    assert.is((await askIdentity({ agentUrl: A2A, fetch })()).brandUrl, BRAND);
    const { method, params } = JSON.parse(String(told[0]?.body));
    assert.equal([method, params.message.parts[0].kind], ["message/send", "data"]);
  }
});

test("an agent's answer over A2A is capabilities, or an outage", async () => {
  const card = { [besideCard]: { supportedInterfaces: interfaces("1.0") } };
  const ask = (cards: Record<string, Page>, reply: object) =>
    failed(askIdentity({ agentUrl: A2A, fetch: a2aAgent(cards, reply), transport: "a2a" })());
  for (const [cards, reply] of [
    [{}, task({ identity })],
    [{ [besideCard]: 503, [rootCard]: card[besideCard]! }, task({ identity })],
    [{ [besideCard]: { url: "https://other.example/a2a" } }, task({ identity })],
    [{ [besideCard]: {} }, task({ identity })],
    [card, task({ identity }, "TASK_STATE_FAILED")],
    [card, answered({ task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [] } })],
    [card, notMcp],
  ] as [Record<string, Page>, object][]) {
    assert.is.not(await ask(cards, reply), "it is taken", JSON.stringify([cards, reply]));
  }
  assert.is(await ask(card, task({ identity })), "it is taken");
  // An agent that is down over one transport is down.
  let requests = 0;
  const down = async (): Promise<FetchResult> => {
    requests++;
    return { ok: false, code: "connect_failed", retryable: true, detail: "refused" };
  };
  assert.is(await failed(askIdentity({ agentUrl: A2A, fetch: down })()), "refused");
  assert.is(requests, 1);
});

/** The release with other values among its facts of discovery. */
const releaseWith = (over: Record<string, unknown>): Pick<Release, "facts" | "word"> => {
  const changed = Object.entries(over).map(([name, value]) => [
    name,
    { value, from: "version" } satisfies Fact<unknown>,
  ]);
  const { facts } = release as Release;
  return { word: release.word, facts: { ...facts, discovery: { ...facts.discovery, ...Object.fromEntries(changed) } } };
};

const brand = { agents: [{ type: "sales", id: "a", url: AGENT }] };

/** An agent over MCP with its files; `capabilities` undefined is one that cannot be asked. */
function keysFrom(
  pages: Record<string, Page>,
  capabilities: object | undefined,
  extra: Partial<AgentKeysOptions> = {},
) {
  const site = web(pages);
  const fetch = async (url: string, request?: GuardedRequest): Promise<FetchResult> => {
    if (request?.method !== "POST") return site.fetch(url, request);
    const answer = capabilities === undefined ? 503 : answered({ structuredContent: capabilities });
    return web({ [url]: answer }).fetch(url, request);
  };
  return agentKeys({ agentUrl: AGENT, release, fetch, now: site.now, ...extra });
}

test("the file that an agent declares is the only one; where it cannot be asked, the release says what then", async () => {
  const moved = "https://brand.example.org/brand.json";
  const pages = { [BRAND]: brand, [JWKS]: { keys: [key("a")] } };
  assert.is(codeOf(await keysFrom(pages, { identity }).resolve("a")), "ok");
  assert.is(codeOf(await keysFrom(pages, { identity: { brand_json_url: moved } }).resolve("a")), "unavailable");
  const reasons: string[] = [];
  const onUnasked = (reason: string) => void reasons.push(reason);
  assert.is(codeOf(await keysFrom(pages, undefined, { onUnasked }).resolve("a")), "ok");
  assert.is(reasons.length, 1);
  const newest = { release: releaseWith({ webhooks: "capabilities" }), onUnasked };
  assert.is(codeOf(await keysFrom(pages, undefined, newest).resolve("a")), "unavailable");
  const requests = {
    release: releaseWith({ requests: "capabilities" }),
    purpose: "request_signing",
    onUnasked,
  } as const;
  assert.is(codeOf(await keysFrom(pages, undefined, requests).resolve("a")), "unavailable");
  assert.is(reasons.length, 1);
});

test("a declared brand file is at the agent's domain, or of a house that lets the agent speak for it", async () => {
  const house = "https://house.example.org/brand.json";
  const key_origins = { webhook_signing: new URL(JWKS).origin, request_signing: new URL(JWKS).origin };
  const declared = { identity: { brand_json_url: house, key_origins } };
  const judged = async (
    file: Page,
    over: Record<string, unknown> = { keyOrigins: "everybody" },
    purpose?: "request_signing",
  ) =>
    codeOf(
      await keysFrom({ [house]: file, [JWKS]: { keys: [key("a")] } }, declared, {
        release: releaseWith(over),
        ...(purpose && { purpose }),
      }).resolve("a"),
    );
  const of = (operator: object) => ({ house: { domain: "example.org", ...brand }, authorized_operators: [operator] });
  assert.is(await judged(brand), "untrusted");
  assert.is(await judged(brand, { keyOrigins: "requests" }, "request_signing"), "untrusted");
  assert.is(await judged(brand, { keyOrigins: "requests" }), "ok", "webhooks are bound from 3.3 on");
  assert.is(await judged(of({ domain: "seller.example.com" })), "ok");
  assert.is(await judged(of({ domain: "Example.com", valid_from: "2026-01-01T00:00:00Z" })), "ok");
  for (const operator of [
    ...[{ domain: "other.example.net" }, { domain: "ller.example.com" }, {}],
    { domain: "example.com", valid_until: "2026-01-01T00:00:00Z" },
    { domain: "example.com", valid_from: "some day" },
  ])
    assert.is(await judged(of(operator)), "untrusted", JSON.stringify(operator));
  const noHouse = { ...brand, authorized_operators: [{ domain: "example.com" }] };
  assert.is(await judged(noHouse), "untrusted", "only a house has operators");
});

test("entries of one agent are one where they agree, as the release has it", async () => {
  const [entry] = brand.agents as [object];
  const judged = async (agents: Page, over: Record<string, unknown>) => {
    const pages = { [BRAND]: agents, [JWKS]: { keys: [key("a")] } };
    return codeOf(await keysFrom(pages, { identity }, { release: releaseWith(over) }).resolve("a"));
  };
  const agreeing = { twice: "agreeing", urlMatch: "canonical" };
  const twice = { agents: [entry, { ...entry, id: "b", url: AGENT.replace("https:", "HTTPS:") }] };
  assert.is(await judged(twice, agreeing), "ok");
  assert.is(await judged(twice, { urlMatch: "canonical" }), "untrusted");
  const other = { ...entry, type: "creative" };
  assert.is(await judged({ agents: [entry, other] }, agreeing), "untrusted");
  const apart = { house: brand, brands: [{ agents: [other] }] };
  assert.is(await judged(apart, agreeing), "untrusted", "whatever list it stands in");
  assert.is(await judged({ agents: [entry, { ...entry, jwks_uri: "https://x.example" }] }, agreeing), "untrusted");
});

test("a brand file that is given is read, and nobody asked", async () => {
  const keys = keysFrom({ [BRAND]: brand, [JWKS]: { keys: [key("a")] } }, undefined, {
    brandUrl: BRAND,
    onUnasked: assert.unreachable,
  });
  assert.is(codeOf(await keys.resolve("a")), "ok");
});

test("the pins of every publisher narrow", async () => {
  const other = "https://second.example.net/.well-known/adagents.json";
  const pin = (...kids: string[]) => ({
    authorized_agents: [{ url: AGENT, signing_keys: kids.map((kid) => key(kid)) }],
  });
  const pages = {
    [BRAND]: brand,
    [JWKS]: { keys: [key("a"), key("b"), key("c")] },
    [PIN]: pin("a", "b"),
    [other]: pin("b", "c"),
  };
  const publishers = ["publisher.example.net", "second.example.net"];
  for (const over of [{}, { pin: "thumbprint" }]) {
    const keys = keysFrom(pages, { identity }, { publishers, release: releaseWith(over) });
    const codes = [await keys.resolve("a"), await keys.resolve("b"), await keys.resolve("c")].map(codeOf);
    assert.equal(codes, ["key_unknown", "ok", "key_unknown"], JSON.stringify(over));
  }
});

test.run();
