/** Discovery over the guarded fetch: its caps, its redirect rules and its address checks, at an HTTP interceptor. */
import nock from "nock";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { brandKeys, publisherPin, remoteJwks } from "../../runtime/signing/discovery/index.js";
import type { KeyResolution, KeySource } from "../../runtime/signing/types.js";

const AGENT = "https://agent.seller.example.com/mcp";
const key = { kid: "a", kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", key_ops: ["verify"], x: "x" };

/** Names under `inner.` resolve to a private address, as a hostile zone would have it. */
const lookup = async (name: string) => [
  { address: name.startsWith("inner.") ? "10.0.0.1" : "93.184.215.14", family: 4 },
];
const fetch = createGuardedFetch({ lookup, fetch: (...args) => globalThis.fetch(...args) });
const show = (found: KeyResolution) => (found.ok ? "ok" : found.code);
const resolve = async (source: KeySource) => show(await source.resolve("a"));

test.before(() => nock.disableNetConnect());
test.after.each(() => nock.cleanAll());
test.after(() => {
  nock.enableNetConnect();
  nock.restore();
});

const jwksAt = (host: string) => nock(`https://${host}`).get("/jwks.json");
const keys = (host: string) => remoteJwks({ url: `https://${host}/jwks.json`, sender: AGENT, fetch });

test("a key set is taken up to 64 KiB", async () => {
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ keys: [key], pad: "" });
    return JSON.stringify({ keys: [key], pad: "x".repeat(bytes - empty.length) });
  };
  jwksAt("full.example.com").reply(200, padded(65_536));
  assert.is(await resolve(keys("full.example.com")), "ok");
  jwksAt("over.example.com").reply(200, padded(65_537));
  assert.is(await resolve(keys("over.example.com")), "unavailable");
});

test("a key set is not followed anywhere, and not fetched from a private address", async () => {
  jwksAt("moved.example.com").reply(301, "", { location: "https://full.example.com/jwks.json" });
  const target = jwksAt("full.example.com").reply(200, { keys: [key] });
  assert.is(await resolve(keys("moved.example.com")), "unavailable");
  assert.not.ok(target.isDone());
  const inner = jwksAt("inner.example.com").reply(200, { keys: [key] });
  assert.is(await resolve(keys("inner.example.com")), "untrusted");
  assert.not.ok(inner.isDone());
  assert.is(await resolve(remoteJwks({ url: "http://full.example.com/jwks.json", sender: AGENT, fetch })), "untrusted");
});

test("a brand file that points inside the network leads nowhere", async () => {
  const hosts = [
    "https://inner.example.com/jwks.json",
    "https://127.0.0.1/jwks.json",
    "http://seller.example.com/jwks.json",
  ];
  for (const jwks_uri of hosts) {
    nock("https://example.com")
      .get("/.well-known/brand.json")
      .reply(200, { agents: [{ url: AGENT, jwks_uri }] });
    assert.is(await resolve(brandKeys({ agentUrl: AGENT, fetch })), "untrusted", jwks_uri);
  }
  for (const pointer of [
    { authoritative_location: "https://inner.example.com/b.json" },
    { house: "localhost" },
    { house: "a@b" },
  ]) {
    nock("https://example.com").get("/.well-known/brand.json").reply(200, pointer);
    assert.is(await resolve(brandKeys({ agentUrl: AGENT, fetch })), "untrusted", JSON.stringify(pointer));
  }
});

test("the brand file and the default key set of an agent are found over HTTP", async () => {
  nock("https://example.com")
    .get("/.well-known/brand.json")
    .reply(200, { agents: [{ url: AGENT }] });
  nock("https://agent.seller.example.com")
    .get("/.well-known/jwks.json")
    .reply(200, { keys: [key] });
  assert.is(await resolve(brandKeys({ agentUrl: AGENT, fetch })), "ok");
  nock("https://example.com")
    .get("/.well-known/brand.json")
    .reply(302, "", { location: "https://www.example.com/b.json" });
  assert.is(
    await resolve(brandKeys({ agentUrl: AGENT, fetch })),
    "unavailable",
    "a redirect of HTTP is none of the file",
  );
});

test("a pin is followed within its domain and no further, its pointer not at all", async () => {
  const inner = keys("full.example.com");
  const pins = { authorized_agents: [{ url: AGENT, signing_keys: [{ kid: "a", kty: "OKP" }] }] };
  const pin = () => publisherPin({ keys: inner, agentUrl: AGENT, publisher: "pub.example.net", fetch });
  const wellKnown = () => nock("https://pub.example.net").get("/.well-known/adagents.json");
  jwksAt("full.example.com").reply(200, { keys: [key] });

  wellKnown().reply(301, "", { location: "https://www.pub.example.net/adagents.json" });
  nock("https://www.pub.example.net").get("/adagents.json").reply(200, pins);
  assert.is(await resolve(pin()), "ok");

  wellKnown().reply(301, "", { location: "https://publisher.example.org/adagents.json" });
  const elsewhere = nock("https://publisher.example.org").get("/adagents.json").reply(200, pins);
  assert.is(await resolve(pin()), "untrusted");
  assert.not.ok(elsewhere.isDone());

  wellKnown().reply(200, { authoritative_location: "https://network.example.org/adagents.json" });
  const network = () => nock("https://network.example.org").get("/adagents.json");
  network().reply(200, pins);
  assert.is(await resolve(pin()), "ok", "a pointer may leave the domain");
  wellKnown().reply(200, { authoritative_location: "https://network.example.org/adagents.json" });
  network().reply(301, "", { location: "https://network.example.org/other.json" });
  assert.is(await resolve(pin()), "unavailable");
});

test.run();
