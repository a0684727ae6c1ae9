/** Where keys come from: what is fetched and when, what is believed, and what an outage means. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import type { FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import {
  type BrandKeysOptions,
  brandKeys,
  createDiscoveryCache,
  publisherPin,
  remoteJwks,
} from "../../runtime/signing/discovery/index.js";
import type { Jwk, KeyResolution, KeySource } from "../../runtime/signing/types.js";

const AGENT = "https://agent.seller.example.com/mcp";
const BRAND = "https://example.com/.well-known/brand.json";
const JWKS = "https://agent.seller.example.com/.well-known/jwks.json";
const PIN = "https://publisher.example.net/.well-known/adagents.json";

const key = (kid: string, extra: object = {}): Jwk => ({
  kid,
  kty: "OKP",
  crv: "Ed25519",
  alg: "EdDSA",
  use: "sig",
  key_ops: ["verify"],
  proto_use: "request-signing",
  x: `x-of-${kid}`,
  ...extra,
});

type Page = object | string | number | FetchResult;

/** A web of pages: an object is served as JSON, text as it is, a number is a status. Counts requests per URL. */
function web(pages: Record<string, Page>) {
  const requests: string[] = [];
  const clock = { at: 1_776_520_800 };
  const headers: Record<string, Record<string, string>> = {};
  const asked: (GuardedRequest | undefined)[] = [];
  const fetch = async (url: string, request?: GuardedRequest): Promise<FetchResult> => {
    requests.push(url);
    asked.push(request);
    await Promise.resolve();
    const page = pages[url] ?? 404;
    if (typeof page === "object" && "ok" in page) return page as FetchResult;
    const status = typeof page === "number" ? page : 200;
    const text = typeof page === "string" ? page : JSON.stringify(page);
    const body = new TextEncoder().encode(text);
    return { ok: true, status, headers: headers[url] ?? {}, body, truncated: false, url };
  };
  const count = (url: string) => requests.filter((one) => one === url).length;
  return { pages, requests, clock, headers, asked, fetch, count, now: () => clock.at };
}

const show = (resolution: KeyResolution) =>
  resolution.ok ? [resolution.sender, resolution.key.jwk.x] : [resolution.code, resolution.detail];
const codeOf = (resolution: KeyResolution) => (resolution.ok ? "ok" : resolution.code);
const now = (source: KeySource, keyid: string): KeyResolution => {
  const found = source.resolve(keyid);
  assert.not.instance(found, Promise);
  return found as KeyResolution;
};
const down: FetchResult = { ok: false, code: "connect_failed", retryable: true, detail: "refused" };

const jwks = suite("remote jwks");

jwks("a cached key is answered without a promise, and the same object each time", async () => {
  const site = web({ [JWKS]: { keys: [key("a"), key("b")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
  const first = await source.resolve("a");
  assert.equal(show(first), [AGENT, "x-of-a"]);
  const second = now(source, "a");
  assert.ok(first.ok && second.ok && first.key === second.key);
  assert.equal(show(now(source, "b")), [AGENT, "x-of-b"]);
  assert.equal(site.requests, [JWKS]);
  assert.is(site.asked[0]?.maxBytes, 64 * 1024);
  assert.is(site.asked[0]?.redirects, undefined);
});

jwks("all who wait share one fetch", async () => {
  const site = web({ [JWKS]: { keys: [key("a")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
  const all = await Promise.all(["a", "a", "b", "a"].map(async (keyid) => codeOf(await source.resolve(keyid))));
  assert.equal(all, ["ok", "ok", "key_unknown", "ok"]);
  assert.is(site.requests.length, 1);
});

jwks("a missing kid is looked for once, then not for thirty seconds", async () => {
  const site = web({ [JWKS]: { keys: [key("a")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
  await source.resolve("a");
  site.clock.at += 1;
  site.pages[JWKS] = { keys: [key("a"), key("b")] };
  assert.is(codeOf(await source.resolve("b")), "ok");
  assert.is(site.requests.length, 2);
  for (let index = 0; index < 100; index += 1) assert.is(codeOf(now(source, `made-up-${index}`)), "key_unknown");
  assert.is(site.requests.length, 2);
  site.clock.at += 29;
  assert.is(codeOf(now(source, "c")), "key_unknown");
  site.clock.at += 1;
  assert.is(codeOf(await source.resolve("c")), "key_unknown");
  assert.is(site.requests.length, 3);
});

jwks("a set is renewed before it runs out, and never used after", async () => {
  const site = web({ [JWKS]: { keys: [key("a")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now, ttlSeconds: 600 });
  await source.resolve("a");
  site.clock.at += 500;
  assert.is(codeOf(now(source, "a")), "ok");
  assert.is(site.requests.length, 2, "renewed in the background");
  await new Promise(setImmediate);
  site.clock.at += 500;
  site.pages[JWKS] = down;
  assert.is(codeOf(now(source, "a")), "ok");
  await new Promise(setImmediate);
  site.clock.at += 99;
  assert.is(codeOf(now(source, "a")), "ok", "an outage does not shorten its life");
  await new Promise(setImmediate);
  site.clock.at += 10;
  const late = await source.resolve("a");
  assert.equal([codeOf(late), !late.ok && (late.retryAfterSeconds ?? 0) > 0], ["unavailable", true]);
  site.clock.at += 5;
  site.pages[JWKS] = { keys: [key("other")] };
  assert.is(codeOf(await source.resolve("a")), "key_unknown", "removed meanwhile");
});

jwks("max-age shortens the time, a minute is the least", async () => {
  const lives: [string, number][] = [
    ["max-age=120", 120],
    ["public, max-age=0", 60],
    ["no-store", 60],
    ["max-age=86400", 600],
    ["private", 600],
  ];
  for (const [control, life] of lives) {
    const site = web({ [JWKS]: { keys: [key("a")] } });
    site.headers[JWKS] = { "cache-control": control };
    const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
    await source.resolve("a");
    site.clock.at += life * 0.8 - 1;
    now(source, "a");
    assert.is(site.requests.length, 1, control);
    site.clock.at += life * 0.2 + 1;
    assert.instance(source.resolve("a"), Promise, control);
  }
});

jwks("what cannot be had is unavailable, with peace between attempts", async () => {
  const oversized: FetchResult = { ok: false, code: "too_large", retryable: false, detail: "more than 65536 bytes" };
  const pages: Page[] = [down, oversized, 404, 500, 301, "{", "[]", "{}", '{"keys":[],"keys":[]}', '{"keys":1}'];
  for (const page of pages) {
    const site = web({ [JWKS]: page });
    const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
    assert.is(codeOf(await source.resolve("a")), "unavailable", JSON.stringify(page));
    assert.is(codeOf(now(source, "a")), "unavailable");
    assert.is(site.requests.length, 1);
    site.clock.at += 6;
    site.pages[JWKS] = { keys: [key("a")] };
    assert.is(codeOf(await source.resolve("a")), "ok");
  }
});

jwks("a place we may not fetch from is untrusted, a fetch that throws an outage", async () => {
  const refusedPage: FetchResult = { ok: false, code: "address_refused", retryable: false, detail: "10.0.0.1" };
  const site = web({ [JWKS]: refusedPage });
  assert.is(codeOf(await remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch }).resolve("a")), "untrusted");
  const throwing = remoteJwks({ url: JWKS, sender: AGENT, fetch: () => Promise.reject(new Error("no")) });
  assert.is(codeOf(await throwing.resolve("a")), "unavailable");
});

jwks("a failed refetch of a missing kid is an outage, not an unknown key", async () => {
  const site = web({ [JWKS]: { keys: [key("a")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
  await source.resolve("a");
  site.pages[JWKS] = down;
  assert.is(codeOf(await source.resolve("b")), "unavailable");
  assert.is(codeOf(now(source, "b")), "unavailable");
  assert.is(codeOf(now(source, "a")), "ok");
  assert.is(site.requests.length, 2);
});

jwks("a kid of two keys, and a key published with its private part, are nobody's", async () => {
  const keys = [
    key("twice"),
    key("twice", { x: "other" }),
    key("leaked", { d: "secret" }),
    { kty: "OKP" },
    7,
    key("a"),
  ];
  const site = web({ [JWKS]: { keys } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now });
  assert.is(codeOf(await source.resolve("twice")), "key_unknown");
  assert.is(codeOf(await source.resolve("leaked")), "key_unknown");
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.is(codeOf(await source.resolve("__proto__")), "key_unknown");
});

jwks("sources with one cache share a set and its cooldown", async () => {
  const site = web({ [JWKS]: { keys: [key("a")] } });
  const cache = createDiscoveryCache();
  const options = { url: JWKS, fetch: site.fetch, now: site.now, cache };
  const [one, two] = [
    remoteJwks({ ...options, sender: "https://a/" }),
    remoteJwks({ ...options, sender: "https://b/" }),
  ];
  assert.equal(show(await one.resolve("a")), ["https://a/", "x-of-a"]);
  assert.equal(show(now(two, "a")), ["https://b/", "x-of-a"]);
  await one.resolve("missing");
  assert.is(codeOf(now(two, "missing")), "key_unknown");
  assert.is(site.requests.length, 2);
});

jwks("wrong options throw", () => {
  for (const options of [{ url: "ftp://x" }, { url: "not a url" }, { ttlSeconds: 10 }, { ttlSeconds: 3601 }]) {
    assert.throws(
      () => remoteJwks({ url: JWKS, sender: AGENT, ...options }),
      (error: unknown) => error instanceof AdbindError && error.code === "discovery_option_invalid",
    );
  }
});

jwks.run();

const brand = suite("brand file");
const brandSource = (site: ReturnType<typeof web>, extra: Partial<BrandKeysOptions> = {}) =>
  brandKeys({ agentUrl: AGENT, fetch: site.fetch, now: site.now, ...extra });
const entry = (url: string, extra: object = {}) => ({ type: "sales", id: "a", url, ...extra });

brand("from the operator's file over the agent's entry to its keys", async () => {
  const other = "https://keys.example.com/set.json";
  const site = web({
    [BRAND]: { agents: [entry("https://elsewhere.example.com"), entry(AGENT, { jwks_uri: other })] },
    [other]: { keys: [key("a")] },
  });
  const source = brandSource(site);
  assert.equal(show(await source.resolve("a")), [AGENT, "x-of-a"]);
  assert.equal(site.requests, [BRAND, other]);
  assert.equal(show(now(source, "a")), [AGENT, "x-of-a"]);
  assert.is(site.asked[0]?.maxBytes, 256 * 1024);
});

brand("without a jwks_uri the set is at the agent's origin", async () => {
  const site = web({ [BRAND]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } });
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  assert.equal(site.requests, [BRAND, JWKS]);
});

brand("agents of the house and of its brands count", async () => {
  for (const document of [
    { house: { domain: "example.com", agents: [entry(AGENT)] }, brands: [] },
    { house: { domain: "example.com" }, brands: [{ id: "x" }, { id: "y", agents: [entry(AGENT)] }] },
    { house: { agents: [entry(AGENT)] }, brands: [{ agents: [entry(AGENT)] }] },
  ]) {
    const site = web({ [BRAND]: document, [JWKS]: { keys: [key("a")] } });
    assert.is(codeOf(await brandSource(site).resolve("a")), "ok", JSON.stringify(document));
  }
});

brand("URLs are compared byte for byte; none or several is untrusted", async () => {
  const lists: [string, object[]][] = [
    ["does not list", []],
    ["does not list", [entry(`${AGENT}/`)]],
    ["does not list", [entry(AGENT.toUpperCase())]],
    ["does not list", [entry(AGENT.replace(".com/", ".com:443/"))]],
    ["more than once", [entry(AGENT), entry(AGENT)]],
  ];
  for (const [detail, agents] of lists) {
    const site = web({ [BRAND]: { agents }, [JWKS]: { keys: [key("a")] } });
    const resolution = await brandSource(site).resolve("a");
    assert.is(codeOf(resolution), "untrusted");
    assert.match(String(show(resolution)[1]), detail);
    assert.is(site.count(JWKS), 0);
  }
  const apart = {
    house: { agents: [entry(AGENT)] },
    brands: [{ agents: [entry(AGENT, { jwks_uri: "https://x.example" })] }],
  };
  assert.is(codeOf(await brandSource(web({ [BRAND]: apart })).resolve("a")), "untrusted");
});

brand("one pointer is followed, of either kind, and no second", async () => {
  const hosted = "https://hosted.example.org/brand.json";
  const house = "https://house.example.org/.well-known/brand.json";
  const agents = { agents: [entry(AGENT)] };
  const site = web({ [BRAND]: { authoritative_location: hosted }, [hosted]: agents, [JWKS]: { keys: [key("a")] } });
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  assert.equal(site.requests, [BRAND, hosted, JWKS]);
  site.pages[BRAND] = { house: "house.example.org" };
  site.pages[house] = agents;
  assert.is(codeOf(await brandSource(site).resolve("a")), "ok");
  site.pages[house] = { authoritative_location: hosted };
  assert.is(codeOf(await brandSource(site).resolve("a")), "untrusted");
});

brand("an outage anywhere in the chain is unavailable", async () => {
  const pages = { [BRAND]: { agents: [entry(AGENT)] }, [JWKS]: { keys: [key("a")] } };
  for (const broken of [BRAND, JWKS]) {
    for (const page of [down, 503, 404, "not json"]) {
      const site = web({ ...pages, [broken]: page });
      assert.is(codeOf(await brandSource(site).resolve("a")), "unavailable");
    }
  }
});

brand("an agent that is added is found, without waiting for the file to run out", async () => {
  const site = web({ [BRAND]: { agents: [] }, [JWKS]: { keys: [key("a")] } });
  const source = brandSource(site);
  assert.is(codeOf(await source.resolve("a")), "untrusted");
  site.pages[BRAND] = { agents: [entry(AGENT)] };
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.is(site.count(BRAND), 2);
});

brand("a key set that moves is used from its new place, and reported", async () => {
  const moved = "https://keys.example.com/new.json";
  const site = web({
    [BRAND]: { agents: [entry(AGENT)] },
    [JWKS]: { keys: [key("a")] },
    [moved]: { keys: [key("b")] },
  });
  const changes: object[] = [];
  const source = brandSource(site, { onJwksUriChange: (change) => changes.push(change) });
  await source.resolve("a");
  site.pages[BRAND] = { agents: [entry(AGENT, { jwks_uri: moved })] };
  site.clock.at += 601;
  assert.is(codeOf(await source.resolve("b")), "ok");
  assert.is(codeOf(await source.resolve("a")), "key_unknown");
  assert.equal(changes, [{ agentUrl: AGENT, before: JWKS, after: moved }]);
});

brand("wrong options throw", () => {
  for (const options of [{ agentUrl: "agent" }, { operator: "https://example.com" }, { brandUrl: "brand.json" }]) {
    assert.throws(
      () => brandKeys({ agentUrl: AGENT, ...options }),
      (error: unknown) => error instanceof AdbindError && error.code === "discovery_option_invalid",
    );
  }
});

brand.run();

const pin = suite("publisher pin");
const published: KeySource = {
  resolve: (keyid) =>
    ["a", "b"].includes(keyid)
      ? { ok: true, key: publishedKeys[keyid as "a" | "b"], sender: AGENT }
      : { ok: false, code: "key_unknown" },
};
const publishedKeys = { a: { jwk: key("a") }, b: { jwk: key("b") } };
const pins = (...signing_keys: unknown[]) => ({
  authorized_agents: [{ url: AGENT, authorized_for: "all", signing_keys }],
});
const pinned = (site: ReturnType<typeof web>, extra: object = {}) =>
  publisherPin({
    keys: published,
    agentUrl: AGENT,
    publisher: "publisher.example.net",
    fetch: site.fetch,
    now: site.now,
    ...extra,
  });

pin("a kid on the list passes, another is unknown whatever the agent publishes", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  const source = pinned(site);
  const found = await source.resolve("a");
  assert.equal(show(found), [AGENT, "x-of-a"]);
  assert.equal(show(await source.resolve("b"))[0], "key_unknown");
  assert.is(site.count(PIN), 2, "one refresh");
  assert.equal(show(now(source, "b"))[0], "key_unknown");
  assert.is(site.count(PIN), 2);
  const [one, two] = [now(source, "a"), now(source, "a")];
  assert.ok(one.ok && two.ok && one.key === two.key, "an imported key is not imported again");
  assert.equal(site.asked[0]?.redirects, { hops: 3, scope: "registrable-domain" });
});

pin("a key added to the file is found by its first use", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  const source = pinned(site);
  await source.resolve("a");
  site.pages[PIN] = pins({ kid: "a", kty: "OKP" }, { kid: "b", kty: "OKP" });
  assert.is(codeOf(await source.resolve("b")), "ok");
});

pin("no pin for the agent: its keys as they are", async () => {
  for (const agents of [
    [],
    [{ url: AGENT }],
    [{ url: "https://other.example", signing_keys: [] }],
    [7, { signing_keys: [] }],
  ]) {
    const site = web({ [PIN]: { authorized_agents: agents } });
    assert.is(codeOf(await pinned(site).resolve("b")), "ok", JSON.stringify(agents));
  }
});

pin("a pin is not escaped by spelling the agent's URL differently, nor by an empty or broken list", async () => {
  const spelled = AGENT.replace("https://agent", "HTTPS://AGENT").replace(".com/", ".com:443/");
  for (const agent of [
    { url: spelled, signing_keys: [{ kid: "a", kty: "OKP" }] },
    { url: AGENT, signing_keys: [] },
    { url: AGENT, signing_keys: "a" },
  ]) {
    const site = web({ [PIN]: { authorized_agents: [agent] } });
    assert.is(codeOf(await pinned(site).resolve("b")), "key_unknown", JSON.stringify(agent));
  }
});

pin("pinned material is what verifies, purpose comes from the agent's key set", async () => {
  const site = web({
    [PIN]: pins({ kid: "a", kty: "OKP", crv: "Ed25519", x: "pinned", proto_use: "governance-signing" }),
  });
  const found = await pinned(site).resolve("a");
  assert.ok(found.ok);
  assert.equal(found.key.jwk, key("a", { x: "pinned" }));
});

pin("material of another type brings nothing of the old one along", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "EC", crv: "P-256", x: "px", y: "py", alg: "ES256" }) });
  const found = await pinned(site).resolve("a");
  assert.ok(found.ok);
  assert.equal(found.key.jwk, key("a", { kty: "EC", crv: "P-256", x: "px", y: "py", alg: "ES256" }));
});

pin("a key only the publisher knows may sign webhooks, as the agent", async () => {
  const site = web({ [PIN]: pins({ kid: "p", kty: "OKP", crv: "Ed25519", x: "pinned" }, { kid: "bare", kty: "OKP" }) });
  const source = pinned(site, { word: "acme" });
  const found = await source.resolve("p");
  assert.ok(found.ok && found.sender === AGENT);
  const { acme_use, use, key_ops, alg, x } = found.key.jwk;
  assert.equal([acme_use, use, key_ops, alg, x], ["request-signing", "sig", ["verify"], "EdDSA", "pinned"]);
  assert.is(codeOf(now(source, "bare")), "key_unknown");
});

pin("a pin vouches for a key, not for an agent its brand file does not list", async () => {
  const site = web({ [PIN]: pins({ kid: "p", kty: "OKP", crv: "Ed25519", x: "pinned" }) });
  for (const code of ["untrusted", "unavailable"] as const) {
    const source = pinned(site, { keys: { resolve: () => ({ ok: false, code }) } });
    assert.is(codeOf(await source.resolve("p")), code);
  }
});

pin("revoked_at travels with the key; a date that cannot be read is past", async () => {
  const at = "2026-04-18T14:00:00Z";
  const site = web({
    [PIN]: pins({ kid: "a", kty: "OKP", revoked_at: at }, { kid: "b", kty: "OKP", revoked_at: "soon" }),
  });
  const source = pinned(site);
  const [a, b] = [await source.resolve("a"), await source.resolve("b")];
  assert.equal([a.ok && a.key.revokedAt, b.ok && b.key.revokedAt], [Date.parse(at) / 1000, 0]);
});

pin("several entries of one agent add up; one kid with two keys is nobody's", async () => {
  const agent = (...signing_keys: object[]) => ({ url: AGENT, signing_keys });
  const site = web({
    [PIN]: {
      authorized_agents: [
        agent({ kid: "a", kty: "OKP", x: "1" }),
        agent({ kid: "b", kty: "OKP" }, { kid: "a", kty: "OKP", x: "2" }),
      ],
    },
  });
  const source = pinned(site);
  assert.equal([codeOf(await source.resolve("a")), codeOf(await source.resolve("b"))], ["key_unknown", "ok"]);
});

pin("a file that cannot be had is unavailable; a missing one only by choice no pin", async () => {
  for (const page of [down, 503, "{", {}, { authorized_agents: {} }]) {
    for (const ifAbsent of ["refuse", "unpinned"]) {
      assert.is(codeOf(await pinned(web({ [PIN]: page }), { ifAbsent }).resolve("a")), "unavailable");
    }
  }
  assert.is(codeOf(await pinned(web({})).resolve("a")), "unavailable");
  assert.is(codeOf(await pinned(web({}), { ifAbsent: "unpinned" }).resolve("a")), "ok");
});

pin("one pointer is followed, without redirects", async () => {
  const hosted = "https://network.example.org/adagents.json";
  const site = web({ [PIN]: { authoritative_location: hosted }, [hosted]: pins({ kid: "a", kty: "OKP" }) });
  assert.is(codeOf(await pinned(site).resolve("b")), "key_unknown");
  assert.equal(site.requests.slice(0, 2), [PIN, hosted]);
  assert.is(site.asked[1]?.redirects, undefined);
  site.pages[hosted] = { authoritative_location: PIN };
  assert.is(codeOf(await pinned(site).resolve("a")), "untrusted");
});

pin("a removed pin is gone after an hour at the latest", async () => {
  const site = web({ [PIN]: pins({ kid: "a", kty: "OKP" }) });
  site.headers[PIN] = { "cache-control": "max-age=86400" };
  const source = pinned(site);
  await source.resolve("a");
  site.pages[PIN] = pins();
  site.clock.at += 3599;
  assert.is(codeOf(await source.resolve("a")), "ok");
  site.clock.at += 1;
  assert.is(codeOf(await source.resolve("a")), "key_unknown");
});

pin.run();
