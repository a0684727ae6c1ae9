/** Tricks that make a client fetch from inside the network it runs in. None of them may open a connection. */
import { isIP, Socket } from "node:net";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  addressKind,
  createGuardedFetch,
  type NetCode,
  netCodes,
  publicReason,
  type ResolvedAddress,
} from "../../runtime/net/index.js";
import { byAddress, bySpelling, PUBLIC_V4, PUBLIC_V6 } from "./ssrf-tricks.js";

const answers = (...addresses: string[]): ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

const neverDial = (): Socket => {
  throw new Error("a connection was attempted");
};

test("a URL that is written to mislead is refused before anything is resolved", async () => {
  const guarded = createGuardedFetch({
    lookup: async () => {
      throw new Error("a name was resolved");
    },
    dial: neverDial,
  });
  const entries = Object.entries(bySpelling);
  for (const [url, code] of entries) {
    const result = await guarded(url);
    assert.equal([url, result.ok ? result.status : result.code], [url, code]);
  }
  assert.ok(entries.length >= 60);
});

test("a name with any address that is not public is refused before a connection", async () => {
  for (const addresses of byAddress) {
    const guarded = createGuardedFetch({ lookup: async () => answers(...addresses), dial: neverDial });
    const result = await guarded("https://seller.example.com/hook");
    assert.equal([addresses, result.ok || result.code], [addresses, "address_refused"]);
  }
});

test("the same holds over an injected fetch", async () => {
  let fetched = 0;
  const fetch = (async () => {
    fetched += 1;
    return new Response("x");
  }) as unknown as typeof globalThis.fetch;
  for (const addresses of byAddress) {
    const guarded = createGuardedFetch({ lookup: async () => answers(...addresses), fetch });
    const result = await guarded("https://seller.example.com/hook");
    assert.equal(result.ok || result.code, "address_refused");
  }
  assert.is(fetched, 0);
});

test("loopback, where allowed, allows nothing else", async () => {
  const guarded = createGuardedFetch({
    allowLoopback: true,
    allowHttp: true,
    lookup: async () => answers("10.0.0.1"),
    dial: neverDial,
  });
  const refused = {
    "http://127.1/": "host_refused",
    "http://2130706433/": "host_refused",
    "http://[::ffff:127.0.0.1]/": "host_refused",
    "http://10.0.0.1/": "host_refused",
    "http://0.0.0.0/": "host_refused",
    "http://metadata/": "host_refused",
    "http://localhost/": "address_refused",
    "http://seller.example.com/": "address_refused",
  };
  for (const [url, code] of Object.entries(refused)) {
    const result = await guarded(url);
    assert.equal([url, result.ok || result.code], [url, code]);
  }
});

test("a public name is dialled at the addresses that were checked and at no other", async () => {
  for (const addresses of [[PUBLIC_V4], [PUBLIC_V6], [PUBLIC_V4, PUBLIC_V6]]) {
    const dialled: string[][] = [];
    let lookups = 0;
    const guarded = createGuardedFetch({
      lookup: async () => {
        lookups += 1;
        return answers(...(lookups === 1 ? addresses : ["127.0.0.1"]));
      },
      dial: (options) => {
        dialled.push(options.addresses.map((one) => one.address));
        const socket = new Socket();
        setImmediate(() => socket.destroy());
        return socket;
      },
    });
    const result = await guarded("https://seller.example.com./hook");
    assert.equal(result.ok || result.code, "connect_failed");
    assert.equal(dialled, [addresses]);
    assert.is(lookups, 1, "a second answer is not asked for: it could be another one");
    // The next connection asks again, and the zone has changed its mind.
    const second = await guarded("https://seller.example.com/hook");
    assert.equal(second.ok || second.code, "address_refused");
    assert.is(dialled.length, 1);
  }
});

/** An IPv4 number in one to four parts, each in base 8, 10 or 16, with zeros before it: all that inet_aton reads. */
const spelledAddress = fc
  .record({
    value: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    parts: fc.integer({ min: 1, max: 4 }),
    bases: fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
    zeros: fc.integer({ min: 0, max: 3 }),
    upper: fc.boolean(),
    dot: fc.boolean(),
  })
  .map(({ value, parts, bases, zeros, upper, dot }) => {
    const bytes = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
    const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    const text = [...bytes.slice(0, parts - 1), last].map((part, index) => {
      const base = bases[index] as number;
      if (base === 10) return String(part);
      const digits = "0".repeat(zeros) + part.toString(base);
      return base === 16 ? `0x${digits}` : `0${digits}`;
    });
    const host = text.join(".") + (dot ? "." : "");
    return upper ? host.toUpperCase() : host;
  });

test("no spelling of an IPv4 address gets through", async () => {
  const guarded = createGuardedFetch({ dial: neverDial, lookup: () => Promise.reject(new Error("resolved")) });
  const property = fc.asyncProperty(spelledAddress, async (host) => {
    const result = await guarded(`https://${host}/`);
    assert.equal([host, result.ok || result.code], [host, "host_refused"]);
  });
  await fc.assert(property, { numRuns: 2000 });
});

test("whatever the text, only names are resolved and only checked addresses dialled", async () => {
  const resolved: string[] = [];
  const dialled: string[] = [];
  const guarded = createGuardedFetch({
    allowHttp: true,
    lookup: async (name) => {
      resolved.push(name);
      return answers(PUBLIC_V4);
    },
    dial: ({ addresses }) => {
      dialled.push(...addresses.map(({ address }) => address));
      const socket = new Socket();
      setImmediate(() => socket.destroy());
      return socket;
    },
  });
  const piece = fc.constantFrom(
    ..."https:// http:// / // \\ @ : # ? % %00 %2e . .. 127.0.0.1 0x7f 1 localhost [::1] [ ] a.example.com example 。 １ \t \n ; , & = ü :80 :443".split(
      " ",
    ),
  );
  const pieces = fc.array(piece, { maxLength: 8 });
  // By chance alone a name that can be resolved is too rare to count on.
  const named = pieces.map((some) => ["a.example.com", ...some]);
  const text = fc.oneof({ weight: 9, arbitrary: pieces }, named).map((some) => `https://${some.join("")}`);
  const property = fc.asyncProperty(text, async (url) => {
    const result = await guarded(url);
    assert.is(result.ok, false, url);
  });
  await fc.assert(property, { numRuns: 3000 });
  assert.ok(resolved.length > 20, "some of them are real names");
  for (const name of new Set(resolved)) assert.ok(isIP(name) === 0 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name), name);
  assert.equal(new Set(dialled), new Set([PUBLIC_V4]));
});

test("the party that gave the URL learns only what it could read off the URL", () => {
  for (const [code, { kind }] of Object.entries(netCodes)) {
    const reason = publicReason(code as NetCode);
    if (kind !== "refused") assert.is(reason, "could not be fetched", code);
  }
  assert.is(publicReason("address_refused"), publicReason("connect_failed"));
  assert.is(publicReason("host_refused"), "url not allowed");
});

test("addresses at the edges of ranges are of the right kind", () => {
  const kinds: Record<string, string> = {
    "9.255.255.255": "public",
    "11.0.0.0": "public",
    "100.63.255.255": "public",
    "100.128.0.0": "public",
    "126.255.255.255": "public",
    "128.0.0.1": "public",
    "172.15.255.255": "public",
    "172.32.0.0": "public",
    "192.167.255.255": "public",
    "198.17.255.255": "public",
    "198.20.0.0": "public",
    "223.255.255.255": "public",
    "2000::1": "public",
    "2001:200::1": "public",
    "2001:1ff:ffff::1": "reserved",
    "3fff:1000::1": "public",
    "4000::1": "reserved",
    "::1": "loopback",
    "::2": "reserved",
    "": "reserved",
  };
  for (const [address, kind] of Object.entries(kinds)) assert.equal([address, addressKind(address)], [address, kind]);
});

test.run();
