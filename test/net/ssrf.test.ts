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

const PUBLIC_V4 = "93.184.215.14";
const PUBLIC_V6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";

const answers = (...addresses: string[]): ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** URL as an attacker writes it -> the code it is refused with. No name here needs a resolver. */
const bySpelling: Record<string, NetCode> = {
  // scheme
  "http://seller.example.com/": "scheme_refused",
  "ftp://seller.example.com/": "scheme_refused",
  "ws://seller.example.com/": "scheme_refused",
  "file:///etc/passwd": "url_malformed",
  "file://localhost/etc/passwd": "scheme_refused",
  "gopher://127.0.0.1:6379/_INFO": "scheme_refused",
  "data:text/plain,hello": "url_malformed",
  "javascript:alert(1)": "url_malformed",
  "https:seller.example.com": "url_malformed",
  "//127.0.0.1/": "url_malformed",
  "https:///127.0.0.1/": "url_malformed",
  "": "url_malformed",
  // IPv4 in every spelling a C library takes
  "https://127.0.0.1/": "host_refused",
  "https://127.0.0.1./": "host_refused",
  "https://2130706433/": "host_refused",
  "https://0x7f000001/": "host_refused",
  "https://0X7F000001/": "host_refused",
  "https://017700000001/": "host_refused",
  "https://0177.0.0.1/": "host_refused",
  "https://0x7f.0x0.0x0.0x1/": "host_refused",
  "https://127.1/": "host_refused",
  "https://127.0.1/": "host_refused",
  "https://0177.1/": "host_refused",
  "https://00000177.0.0.1/": "host_refused",
  "https://0/": "host_refused",
  "https://0.0.0.0/": "host_refused",
  "https://10.0.0.1/": "host_refused",
  "https://169.254.169.254/latest/meta-data/": "host_refused",
  "https://2852039166/latest/meta-data/": "host_refused",
  "https://0xA9FEA9FE/": "host_refused",
  "https://0251.0376.0251.0376/": "host_refused",
  "https://169.254.43518/": "host_refused",
  "https://192.168.1.1/": "host_refused",
  "https://172.16.0.1/": "host_refused",
  "https://100.100.100.200/": "host_refused",
  "https://93.184.215.14/": "host_refused", // public too: a literal has no certificate to speak of
  "https://256.256.256.256/": "url_malformed",
  "https://1.2.3.4.5/": "url_malformed",
  "https://4294967296/": "url_malformed",
  "https://127.0.0.1../": "url_malformed",
  // IPv6
  "https://[::1]/": "host_refused",
  "https://[::]/": "host_refused",
  "https://[0:0:0:0:0:0:0:1]/": "host_refused",
  "https://[::ffff:127.0.0.1]/": "host_refused",
  "https://[::ffff:7f00:1]/": "host_refused",
  "https://[::127.0.0.1]/": "host_refused",
  "https://[64:ff9b::7f00:1]/": "host_refused",
  "https://[64:ff9b::169.254.169.254]/": "host_refused",
  "https://[2002:7f00:1::]/": "host_refused",
  "https://[2001:0:7f00:1::]/": "host_refused",
  "https://[fe80::1]/": "host_refused",
  "https://[fe80::1%25eth0]/": "url_malformed",
  "https://[::1%25lo]/": "url_malformed",
  "https://[fd00:ec2::254]/": "host_refused",
  "https://[::1/": "url_malformed",
  "https://::1/": "url_malformed",
  // Unicode digits, dots and look-alikes; percent-encoding; control characters
  "https://１２７.０.０.１/": "url_malformed",
  "https://127。0。0。1/": "url_malformed",
  "https://①②⑦.⓪.⓪.①/": "url_malformed",
  "https://ⓛocalhost/": "url_malformed",
  "https://bücher.example.com/": "url_malformed",
  "https://%31%32%37.0.0.1/": "url_malformed",
  "https://127.0.0.1%2f.seller.example.com/": "url_malformed",
  "https://127.0.0.1%00.seller.example.com/": "url_malformed",
  "https://127.0.0.1\t/": "url_malformed",
  "https://127.0.\n0.1/": "url_malformed",
  "https://seller.example.com\\@127.0.0.1/": "url_malformed",
  "https:\\\\127.0.0.1/": "url_malformed",
  " https://127.0.0.1/": "url_malformed",
  "https://seller.example.com/\r\nHost: internal": "url_malformed",
  // userinfo
  "https://seller.example.com@127.0.0.1/": "userinfo_refused",
  "https://user:secret@seller.example.com/": "userinfo_refused",
  "https://@127.0.0.1/": "userinfo_refused",
  "https://seller.example.com:443@10.0.0.1/": "userinfo_refused",
  "https://a@b@127.0.0.1/": "userinfo_refused",
  "https://127.0.0.1#@seller.example.com/": "host_refused",
  "https://127.0.0.1?@seller.example.com/": "host_refused",
  // names that only local networks answer for
  "https://localhost/": "host_refused",
  "https://LOCALHOST/": "host_refused",
  "https://localhost./": "host_refused",
  "https://app.localhost/": "host_refused",
  "https://printer.local/": "host_refused",
  "https://metadata.google.internal/": "host_refused",
  "https://router.home.arpa/": "host_refused",
  "https://metadata/": "host_refused",
  "https://kubernetes.default.svc.internal/": "host_refused",
  "https://a..b.example.com/": "url_malformed",
  "https://.example.com/": "url_malformed",
  "https://seller.example.com:0/": "port_refused",
  "https://seller.example.com:99999/": "url_malformed",
  "https://seller.example.com:-1/": "url_malformed",
};

/** What a name resolves to -> refused, since one bad address is enough. */
const byAddress: string[][] = [
  ["127.0.0.1"],
  ["127.255.255.254"],
  ["0.0.0.0"],
  ["10.255.0.1"],
  ["100.64.0.1"],
  ["100.127.255.255"],
  ["169.254.169.254"],
  ["172.16.0.1"],
  ["172.31.255.255"],
  ["192.168.0.1"],
  ["192.0.0.192"],
  ["192.0.2.1"],
  ["198.18.0.1"],
  ["198.51.100.1"],
  ["203.0.113.1"],
  ["224.0.0.1"],
  ["240.0.0.1"],
  ["255.255.255.255"],
  ["168.63.129.16"],
  ["::1"],
  ["::"],
  ["::ffff:127.0.0.1"],
  ["::ffff:93.184.215.14"],
  ["::7f00:1"],
  ["64:ff9b::7f00:1"],
  ["64:ff9b:1::1"],
  ["2002:7f00:1::1"],
  ["2001::1"],
  ["2001:db8::1"],
  ["fc00::1"],
  ["fd00:ec2::254"],
  ["fe80::1"],
  ["fe80::1%eth0"],
  ["fec0::1"],
  ["ff02::1"],
  ["100::1"],
  [PUBLIC_V4, "127.0.0.1"],
  [PUBLIC_V4, "::1"],
  [PUBLIC_V6, "fd00::1"],
  ["not an address"],
];

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
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => `https://${pieces.join("")}`);
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

test("kinds of addresses at the edges of their ranges", () => {
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
