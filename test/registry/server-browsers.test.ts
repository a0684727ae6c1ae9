/** Reads from other origins' pages, short on the wire, and asked for again. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Setup, setupRegistry } from "./server-fixture.js";
import { crawlOf, entry, NEWS, property, SELLER } from "./server-world.js";

const browsers = suite("reads of the registry");
const PUBLISHER = `/api/registry/publisher?domain=${NEWS}`;
const reads = [
  PUBLISHER,
  `/api/registry/publisher/authorization?domain=${NEWS}&agent=${encodeURIComponent(SELLER)}`,
  `/api/registry/lookup/domain/${NEWS}`,
  `/api/registry/lookup/property?type=domain&value=one.${NEWS}`,
  "/api/registry/stats",
  "/api/registry/agents?properties=true&health=true&capabilities=true",
  "/api/registry/publishers",
  `/api/registry/lookup/agent/${encodeURIComponent(SELLER)}/domains`,
  `/v1/agents/${encodeURIComponent(SELLER)}/publishers?include=properties`,
  `/api/registry/validate/property-authorization?agent_url=${encodeURIComponent(SELLER)}&identifier_type=domain&identifier_value=one.${NEWS}`,
  `/api/properties/resolve?domain=${NEWS}`,
  "/api/properties/registry",
  `/api/brands/resolve?domain=${NEWS}`,
  `/api/brands/brand-json?domain=${NEWS}`,
  "/api/brands/registry",
  "/api/brands/find?q=brand",
  "/api/search?q=news",
  `/api/manifest-refs/lookup?domain=${NEWS}`,
  "/api",
];

let setup: Setup;
let now = Date.UTC(2026, 10, 22);
browsers.before(async () => {
  setup = await setupRegistry({ now: () => now, limits: false });
  await known(["one"]);
});
browsers.after(() => setup.close());

const known = (names: readonly string[], more: object = {}) =>
  setup.registry.data.applyCrawl(
    crawlOf(
      NEWS,
      [entry(SELLER, more)],
      names.map((name) => property(name, "website", [], NEWS)),
    ),
  );

const ask = (url: string, headers: Record<string, string> = {}, method: "GET" | "OPTIONS" | "HEAD" = "GET") =>
  setup.registry.app.inject({ url, headers, method });

browsers("what is asked for again with its fingerprint is answered 304, until something changes", async () => {
  for (const url of reads) {
    const first = await ask(url);
    assert.is(first.statusCode, 200, first.body);
    assert.match(String(first.headers["cache-control"]), /^public, max-age=60$/);
    const etag = String(first.headers.etag);
    now += 1_000;
    for (const value of [etag, `W/${etag.replace(/^W\//, "")}`, `"x", ${etag}`, "*"]) {
      const again = await ask(url, { "if-none-match": value });
      assert.equal([again.statusCode, again.body, again.headers.etag], [304, "", etag], `${url} ${value}`);
    }
    assert.is((await ask(url, { "if-none-match": '"other"' })).statusCode, 200);
  }
  const before = String((await ask(PUBLISHER)).headers.etag);
  await known(["one", "two"]);
  const after = await ask(PUBLISHER, { "if-none-match": before });
  assert.equal([after.statusCode, after.json().properties.length], [200, 2]);
});

browsers("a 304 asks the data for its revision alone, and for the answer once a minute", async () => {
  const { data } = setup.registry;
  const given = data.publisherPage;
  let lookups = 0;
  Object.assign(data, {
    publisherPage: (domain: string, page: object) => {
      lookups += 1;
      return given(domain, page);
    },
  });
  try {
    const etag = String((await ask(PUBLISHER)).headers.etag);
    for (let at = 0; at < 5; at += 1) assert.is((await ask(PUBLISHER, { "if-none-match": etag })).statusCode, 304);
    assert.is(lookups, 1);
    now += 61_000;
    assert.is((await ask(PUBLISHER, { "if-none-match": etag })).statusCode, 304);
    assert.is(lookups, 2);
  } finally {
    Object.assign(data, { publisherPage: given });
  }
});

browsers("an authorization that ends is not answered 304", async () => {
  await known(["one"], { effectiveUntil: now + 90_000 });
  const etag = String((await ask(PUBLISHER)).headers.etag);
  now += 91_000;
  const after = await ask(PUBLISHER, { "if-none-match": etag });
  assert.equal([after.statusCode, after.json().authorized_agents], [200, []]);
  await known(["one"]);
});

browsers("answers are compressed for those who take it, as another representation of the same", async () => {
  await known(Array.from({ length: 100 }, (_, at) => `property-${at}`));
  const plain = await ask(PUBLISHER);
  assert.is(plain.headers["content-encoding"], undefined);
  for (const [encoding, decode] of [
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const) {
    const shorter = await ask(PUBLISHER, { "accept-encoding": encoding });
    assert.is(shorter.headers["content-encoding"], encoding);
    assert.is(decode(shorter.rawPayload).toString(), plain.body);
    assert.ok(shorter.rawPayload.length * 4 < plain.rawPayload.length);
    assert.is(shorter.headers.etag, `W/${plain.headers.etag}`);
    assert.match(String(shorter.headers.vary), /accept-encoding/i);
    const again = await ask(PUBLISHER, { "accept-encoding": encoding, "if-none-match": String(shorter.headers.etag) });
    assert.is(again.statusCode, 304);
  }
});

browsers("pages of other origins may read the API, and nothing of the registry's own pages", async () => {
  const origin = "https://tool.example";
  for (const url of reads) assert.is((await ask(url, { origin })).headers["access-control-allow-origin"], "*", url);
  const asked = { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  const leave = await ask("/api/registry/expand/product-identifiers", asked, "OPTIONS");
  assert.is(leave.statusCode, 204);
  assert.match(String(leave.headers["access-control-allow-headers"]), "content-type");
  assert.is(leave.headers["access-control-allow-credentials"], undefined);
  for (const url of ["/", `/publisher?domain=${NEWS}`, "/login", "/interaction/x", "/token", "/auth"]) {
    const page = await ask(url, { origin });
    assert.is(page.headers["access-control-allow-origin"], undefined, url);
  }
});

browsers("a page of another origin may read how many requests it has left", async () => {
  const limited = await setupRegistry({ limits: { reads: 2 } });
  try {
    const { headers } = await limited.registry.app.inject({
      url: "/api/registry/stats",
      headers: { origin: "https://app.example" },
    });
    const exposed = String(headers["access-control-expose-headers"]).split(", ");
    const limits = Object.keys(headers).filter((name) => name.startsWith("ratelimit"));
    assert.is(limits.length, 3);
    for (const name of limits) assert.ok(exposed.includes(name), name);
  } finally {
    await limited.close();
  }
});

browsers.run();
