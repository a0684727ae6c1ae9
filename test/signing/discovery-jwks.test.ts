/** Keys of a key set: what is fetched and when, what is believed, and what an outage means. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import type { FetchResult } from "../../runtime/net/index.js";
import { createDiscoveryCache, remoteJwks } from "../../runtime/signing/discovery/index.js";
import { AGENT, codeOf, down, JWKS, key, now, type Page, show, web } from "./discovery-site.js";

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

jwks("after a clock is set back nothing is believed, refused or left alone for as long as by the old one", async () => {
  const site = web({ [JWKS]: { keys: [key("a"), key("b")] } });
  const source = remoteJwks({ url: JWKS, sender: AGENT, fetch: site.fetch, now: site.now, ttlSeconds: 600 });
  assert.is(codeOf(await source.resolve("a")), "ok");
  assert.is(codeOf(await source.resolve("new")), "key_unknown", "and the set was looked at again");
  site.clock.at -= 7_200;
  site.pages[JWKS] = { keys: [key("b"), key("new")] };
  assert.is(codeOf(await source.resolve("a")), "key_unknown", "withdrawn meanwhile");
  assert.is(codeOf(await source.resolve("new")), "ok");
  site.clock.at += 601;
  site.pages[JWKS] = down;
  assert.is(codeOf(await source.resolve("b")), "unavailable");
  site.clock.at -= 7_200;
  const again = await source.resolve("b");
  assert.ok(!again.ok && (again.retryAfterSeconds ?? 0) <= 5);
  site.clock.at -= 7_200;
  site.pages[JWKS] = { keys: [key("b")] };
  assert.is(codeOf(await source.resolve("b")), "ok", "its outage is over");
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
