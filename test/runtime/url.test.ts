/** The canonical form of URLs, rule by rule, with the cases in which parsers are known to differ. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { canonicalAgentUrl, canonicalAuthority, canonicalUrl, sameAgentUrl } from "../../runtime/url.js";

const canonical = (url: string, unicodeHost: "convert" | "refuse" = "convert"): string => {
  const result = canonicalUrl(url, { unicodeHost });
  return result.ok ? result.url : result.reason;
};

const forms: Record<string, [string, string][]> = {
  "scheme and host in lower case": [
    ["HTTPS://Buyer.Example.COM/Path", "https://buyer.example.com/Path"],
    ["HtTp://EXAMPLE.com/", "http://example.com/"],
    ["https://example.com/PATH?Query=A", "https://example.com/PATH?Query=A"],
  ],
  "default ports go, others stay": [
    ["https://example.com:443/p", "https://example.com/p"],
    ["http://example.com:80/p", "http://example.com/p"],
    ["https://example.com:80/p", "https://example.com:80/p"],
    ["http://example.com:443/p", "http://example.com:443/p"],
    ["https://example.com:8443/p", "https://example.com:8443/p"],
    ["https://example.com:/p", "https://example.com/p"],
    ["https://example.com:", "https://example.com/"],
    ["https://example.com:0443/p", "https://example.com/p"],
    ["https://example.com:65535/p", "https://example.com:65535/p"],
    ["https://example.com:65536/p", "malformed"],
    ["https://example.com:99999999999999999999/p", "malformed"],
    ["https://example.com:4a3/p", "malformed"],
    ["https://example.com:-1/p", "malformed"],
    ["https://example.com:+443/p", "malformed"],
    ["https://example.com: 443/p", "malformed"],
    ["https://example.com:443:443/p", "malformed"],
    ["https://:443/p", "malformed"],
    ["https://:/p", "malformed"],
  ],
  "IPv6 keeps its brackets": [
    ["https://[2001:DB8::1]/p", "https://[2001:db8::1]/p"],
    ["https://[2001:db8::1]:443/p", "https://[2001:db8::1]/p"],
    ["https://[2001:db8::1]:8443/p", "https://[2001:db8::1]:8443/p"],
    ["https://[2001:db8::1]:/p", "https://[2001:db8::1]/p"],
    ["http://[::1]:80/", "http://[::1]/"],
    ["https://[::]/", "https://[::]/"],
    ["https://[1::]/", "https://[1::]/"],
    ["https://[1:2:3:4:5:6:7:8]/", "https://[1:2:3:4:5:6:7:8]/"],
    ["https://[1:2:3:4:5:6:7::]/", "https://[1:2:3:4:5:6:7::]/"],
    ["https://[2001:0DB8:0:0:0:0:0:1]/", "https://[2001:0db8:0:0:0:0:0:1]/"],
    ["https://[::FFFF:192.0.2.1]/", "https://[::ffff:192.0.2.1]/"],
    ["https://[1:2:3:4:5:6:192.0.2.1]/", "https://[1:2:3:4:5:6:192.0.2.1]/"],
    ["https://user@[::1]/", "https://[::1]/"],
    ["https://[::1/p", "malformed"],
    ["https://[::1", "malformed"],
    ["https://::1]/p", "malformed"],
    ["https://2001:db8::1/p", "malformed"],
    ["https://::1/p", "malformed"],
    ["https://[]/p", "malformed"],
    ["https://[::1]x/p", "malformed"],
    ["https://[::1]8443/p", "malformed"],
    ["https://x[::1]/p", "malformed"],
    ["https://[[::1]]/p", "malformed"],
    ["https://[fe80::1%25eth0]/p", "malformed"],
    ["https://[fe80::1%eth0]/p", "malformed"],
    ["https://[fe80::1%25]/p", "malformed"],
    ["https://[1:2:3:4:5:6:7]/", "malformed"],
    ["https://[1:2:3:4:5:6:7:8:9]/", "malformed"],
    ["https://[1:2:3:4::5:6:7:8]/", "malformed"],
    ["https://[1::2::3]/", "malformed"],
    ["https://[:::]/", "malformed"],
    ["https://[12345::]/", "malformed"],
    ["https://[g::]/", "malformed"],
    ["https://[::192.0.2.256]/", "malformed"],
    ["https://[::192.0.2]/", "malformed"],
    ["https://[192.0.2.1::]/", "malformed"],
    ["https://[::1.2.3.4:5]/", "malformed"],
    ["https://[192.0.2.1]/", "malformed"],
    ["https://[v1.fe80::a]/", "malformed"],
    ["https://[example.com]/", "malformed"],
  ],
  "userinfo goes, and a host stays": [
    ["https://user@example.com/p", "https://example.com/p"],
    ["https://user:pass@example.com/p", "https://example.com/p"],
    ["https://user:p%40ss@example.com:443/p", "https://example.com/p"],
    ["https://@example.com/p", "https://example.com/p"],
    ["https://:@example.com/p", "https://example.com/p"],
    ["https://user@/p", "malformed"],
    ["https://user@", "malformed"],
    ["https://user:pass@:443/p", "malformed"],
    ["https://a@b@example.com/p", "malformed"],
    ["https://us er@example.com/p", "malformed"],
    ["https://us[er@example.com/p", "malformed"],
    ["https://us%zzer@example.com/p", "malformed"],
    ["https://example.com\\@evil.example/p", "malformed"],
    ["https://example.com/@evil.example/p", "https://example.com/@evil.example/p"],
    ["https://example.com?@evil.example", "https://example.com/?@evil.example"],
    ["https://example.com#@evil.example", "https://example.com/"],
  ],
  "only an absolute http or https URL has a form": [
    ["", "malformed"],
    ["/p", "malformed"],
    ["//example.com/p", "malformed"],
    ["example.com/p", "malformed"],
    ["https:example.com", "malformed"],
    ["https:/example.com/p", "malformed"],
    ["https:///p", "malformed"],
    ["https:////example.com/p", "malformed"],
    ["https://", "malformed"],
    ["https://?x", "malformed"],
    ["https://#x", "malformed"],
    ["https:\\\\example.com\\p", "malformed"],
    ["ftp://example.com/", "malformed"],
    ["wss://example.com/", "malformed"],
    ["javascript://example.com/", "malformed"],
    ["httpss://example.com/", "malformed"],
    [" https://example.com/", "malformed"],
    ["\thttps://example.com/", "malformed"],
    ["ht\ntps://example.com/", "malformed"],
  ],
  "white space, controls and backslashes are refused where they matter": [
    ["https://example.com/p ", "malformed"],
    ["https://example.com /p", "malformed"],
    ["https://exam ple.com/p", "malformed"],
    ["https://example.com/a b", "malformed"],
    ["https://example.com/a\tb", "malformed"],
    ["https://example.com/a\nb", "malformed"],
    ["https://example.com/a\r\nHost: evil", "malformed"],
    ["https://example.com/a\u0000b", "malformed"],
    ["https://example.com/a\u007fb", "malformed"],
    ["https://example.com/a\\b", "malformed"],
    ["https://example.com/..\\b", "malformed"],
    ["https://example.com\\p", "malformed"],
    ["https://example.com/p?a b", "malformed"],
    ["https://example.com/p?a\nb", "malformed"],
    ["https://example.com/p#a b\u0000é", "https://example.com/p"],
    ["https://example.com/p?a\\b", "https://example.com/p?a\\b"],
  ],
  hosts: [
    ["https://example.com./p", "https://example.com/p"],
    ["https://example.com.:443/p", "https://example.com/p"],
    ["https://example.com.:8443/p", "https://example.com:8443/p"],
    ["https://localhost./p", "https://localhost/p"],
    ["https://192.0.2.1./p", "https://192.0.2.1/p"],
    ["https://example.com../p", "malformed"],
    ["https://./p", "malformed"],
    ["https://../p", "malformed"],
    ["https://.example.com/p", "malformed"],
    ["https://example..com/p", "malformed"],
    ["https://192.0.2.1:443/p", "https://192.0.2.1/p"],
    ["https://0x7f.1/p", "https://0x7f.1/p"],
    ["https://0X7F.0.0.1/p", "https://0x7f.0.0.1/p"],
    ["https://2130706433/p", "https://2130706433/p"],
    ["https://0177.0.0.1/p", "https://0177.0.0.1/p"],
    ["https://192.0.2.256/p", "https://192.0.2.256/p"],
    ["https://ex%61mple.com/p", "malformed"],
    ["https://example.com%2fp/", "malformed"],
    ["https://example.com%00/", "malformed"],
    ["https://exam!ple.com/", "malformed"],
    ["https://exam,ple.com/", "malformed"],
    ["https://exam*ple.com/", "malformed"],
    ["https://-example.com/", "malformed"],
    ["https://example-.com/", "malformed"],
    ["https://ex-am--ple.com/", "https://ex-am--ple.com/"],
    ["https://webhook_receiver:8080/", "https://webhook_receiver:8080/"],
    [`https://${"a".repeat(63)}.com/`, `https://${"a".repeat(63)}.com/`],
    [`https://${"a".repeat(64)}.com/`, "malformed"],
    [`https://${"a.".repeat(126)}a/`, `https://${"a.".repeat(126)}a/`],
    [`https://${"a.".repeat(127)}a/`, "malformed"],
  ],
  "international hosts": [
    ["https://bücher.example.com/p", "https://xn--bcher-kva.example.com/p"],
    ["https://BÜCHER.Example.com/p", "https://xn--bcher-kva.example.com/p"],
    ["https://Bu\u0308cher.example/p", "https://xn--bcher-kva.example/p"],
    ["https://bücher.example:443/p", "https://xn--bcher-kva.example/p"],
    ["https://bücher.example./p", "https://xn--bcher-kva.example/p"],
    ["https://bücher。example/p", "https://xn--bcher-kva.example/p"],
    ["https://bücher.example。/p", "https://xn--bcher-kva.example/p"],
    ["https://faß.de/", "https://xn--fa-hia.de/"],
    ["https://βόλος.com/", "https://xn--nxasmm1c.com/"],
    ["https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"],
    ["https://☃.net/", "https://xn--n3h.net/"],
    ["https://ＥＸＡＭＰＬＥ.com/", "https://example.com/"],
    ["https://１２７.０.０.１/", "https://127.0.0.1/"],
    ["https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"],
    ["https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"],
    ["https://xn--ls8h.la/", "https://xn--ls8h.la/"],
    ["https://xn--strae-oqa.de/", "https://xn--strae-oqa.de/"],
    ["https://xn--r8jz45g.xn--zckzah/", "https://xn--r8jz45g.xn--zckzah/"],
    ["https://xn--a/", "malformed"],
    ["https://xn--0/", "malformed"],
    ["https://xn--99999999/", "malformed"],
    ["https://xn--abc-/", "malformed"],
    ["https://xn--u-ccb/", "malformed"],
    ["https://xn--bcher-kva_.example/", "malformed"],
    ["https://xn--example-/", "malformed"],
    ["https://xn--strasse-/", "malformed"],
    ["https://xn--.com/", "malformed"],
    ["https://xn--zca!.com/", "malformed"],
    ["https://-bücher.example/", "malformed"],
    ["https://bücher-.example/", "malformed"],
    ["https://bü--cher.example/", "malformed"],
    ["https://bücher_shop.example/", "malformed"],
    ["https://bücher.ex_ample/", "malformed"],
    ["https://bü cher.example/", "malformed"],
    ["https://bücher%41.example/", "malformed"],
    ["https://bücher／evil.example/", "malformed"],
    ["https://bücher＠evil.example/", "malformed"],
    ["https://bücher：８０.example/", "malformed"],
    ["https://א1a.example/", "malformed"],
    ["https://\u0300a.example/", "malformed"],
    ["https://a\u200db.example/", "malformed"],
    ["https://\ud800.example/", "malformed"],
    [`https://${"ü".repeat(60)}.example/`, "malformed"],
  ],
  "dot segments": [
    ["https://h.example/a/./b", "https://h.example/a/b"],
    ["https://h.example/a/../b", "https://h.example/b"],
    ["https://h.example/a/b/..", "https://h.example/a/"],
    ["https://h.example/a/b/.", "https://h.example/a/b/"],
    ["https://h.example/..", "https://h.example/"],
    ["https://h.example/.", "https://h.example/"],
    ["https://h.example/../../a", "https://h.example/a"],
    ["https://h.example/a/../../b", "https://h.example/b"],
    ["https://h.example/a/b/c/./../../g", "https://h.example/a/g"],
    ["https://h.example/mid/content=5/../6", "https://h.example/mid/6"],
    ["https://h.example/a//../b", "https://h.example/a/b"],
    ["https://h.example/a/.//b", "https://h.example/a//b"],
    ["https://h.example//", "https://h.example//"],
    ["https://h.example//a", "https://h.example//a"],
    ["https://h.example//..", "https://h.example/"],
    ["https://h.example/a//b///c", "https://h.example/a//b///c"],
    ["https://h.example/...", "https://h.example/..."],
    ["https://h.example/.a/..b/c./d..", "https://h.example/.a/..b/c./d.."],
    ["https://h.example/a/..?x=/../y", "https://h.example/?x=/../y"],
    ["https://h.example/?a/../b", "https://h.example/?a/../b"],
    ["https://h.example/a/%2E%2E/b", "https://h.example/a/../b"],
    ["https://h.example/a/%2e/b", "https://h.example/a/./b"],
    ["https://h.example/a/..%2Fb", "https://h.example/a/..%2Fb"],
    ["https://h.example/a%2F..%2Fb", "https://h.example/a%2F..%2Fb"],
    ["https://h.example/a/..;/b", "https://h.example/a/..;/b"],
  ],
  "an empty path is /": [
    ["https://h.example", "https://h.example/"],
    ["https://h.example?", "https://h.example/?"],
    ["https://h.example?x=1", "https://h.example/?x=1"],
    ["https://h.example#f", "https://h.example/"],
    ["https://h.example:443?x", "https://h.example/?x"],
  ],
  "percent-encoding of the path": [
    ["https://h.example/%e2%98%83", "https://h.example/%E2%98%83"],
    ["https://h.example/a%7Eb%2Dc%5Fd%2Ee", "https://h.example/a~b-c_d.e"],
    ["https://h.example/%41%5a%61%7a%30%39", "https://h.example/AZaz09"],
    ["https://h.example/%2f%3a%3f%23%5b%5d%40", "https://h.example/%2F%3A%3F%23%5B%5D%40"],
    ["https://h.example/%21%24%26%27%28%29%2a%2b%2c%3b%3d", "https://h.example/%21%24%26%27%28%29%2A%2B%2C%3B%3D"],
    ["https://h.example/%20%00%7f%ff%25", "https://h.example/%20%00%7F%FF%25"],
    ["https://h.example/%2541", "https://h.example/%2541"],
    ["https://h.example/%5c", "https://h.example/%5C"],
    ["https://h.example/a!$&'()*+,;=:@b", "https://h.example/a!$&'()*+,;=:@b"],
    ["https://h.example/%", "malformed"],
    ["https://h.example/%4", "malformed"],
    ["https://h.example/%zz", "malformed"],
    ["https://h.example/%4g", "malformed"],
    ["https://h.example/%%41", "malformed"],
    ["https://h.example/%u0041", "malformed"],
    ["https://h.example/☃", "malformed"],
    ["https://h.example/caf\u00e9", "malformed"],
  ],
  "the query byte for byte": [
    ["https://h.example/p?b=2&a=1&c=3", "https://h.example/p?b=2&a=1&c=3"],
    ["https://h.example/p?", "https://h.example/p?"],
    ["https://h.example/p", "https://h.example/p"],
    ["https://h.example/p??", "https://h.example/p??"],
    ["https://h.example/p?a+b%20c", "https://h.example/p?a+b%20c"],
    ["https://h.example/p?%e2%7E%2f%41", "https://h.example/p?%e2%7E%2f%41"],
    ["https://h.example/p?%zz&%", "https://h.example/p?%zz&%"],
    ["https://h.example/p?a=/b?c:@", "https://h.example/p?a=/b?c:@"],
    ['https://h.example/p?a[]=1&b={}|^`"<>', 'https://h.example/p?a[]=1&b={}|^`"<>'],
    ["https://h.example/p?&&", "https://h.example/p?&&"],
    ["https://h.example/p?ü", "malformed"],
  ],
  "no fragment": [
    ["https://h.example/p#frag", "https://h.example/p"],
    ["https://h.example/p#", "https://h.example/p"],
    ["https://h.example/p?q#frag", "https://h.example/p?q"],
    ["https://h.example/p?#frag", "https://h.example/p?"],
    ["https://h.example/p#a?b", "https://h.example/p"],
    ["https://h.example/p#a#b", "https://h.example/p"],
  ],
};

for (const [rule, cases] of Object.entries(forms)) {
  for (const [url, expected] of cases)
    test(`${rule}: ${JSON.stringify(url)}`, () => assert.is(canonical(url), expected));
}

test("a verifier refuses a raw international host, and says which fault it is", () => {
  assert.is(canonical("https://bücher.example.com/p", "refuse"), "non_ascii_host");
  assert.is(canonical("https://user@bücher.example.com:443/p", "refuse"), "non_ascii_host");
  assert.is(canonical("https://xn--bcher-kva.example.com/p", "refuse"), "https://xn--bcher-kva.example.com/p");
});

test("authorities of Host fields have the form URLs have", () => {
  const authority = (text: string, scheme: "https" | "http" = "https") => {
    const result = canonicalAuthority(text, scheme, { unicodeHost: "refuse" });
    return result.ok ? result.authority : result.reason;
  };
  assert.is(authority("Buyer.Example.com:443"), "buyer.example.com");
  assert.is(authority("buyer.example.com:443", "http"), "buyer.example.com:443");
  assert.is(authority("buyer.example.com:80", "http"), "buyer.example.com");
  assert.is(authority("[2001:DB8::1]:443"), "[2001:db8::1]");
  assert.is(authority("buyer.example.com."), "buyer.example.com");
  assert.is(authority(""), "malformed");
  assert.is(authority("a, b"), "malformed");
  assert.is(authority("a/b"), "malformed");
  assert.is(authority("bücher.example"), "non_ascii_host");
});

test("agents are one when their URLs have one canonical form", () => {
  assert.ok(sameAgentUrl("https://Seller.example.com:443/agent", "https://seller.example.com/agent"));
  assert.ok(sameAgentUrl("https://seller.example.com", "https://seller.example.com/"));
  assert.ok(sameAgentUrl("https://bücher.example/a", "https://xn--bcher-kva.example/a"));
  assert.not(sameAgentUrl("https://seller.example.com/Agent", "https://seller.example.com/agent"));
  assert.not(sameAgentUrl("https://seller.example.com/agent", "https://seller.example.com/agent/"));
  assert.not(sameAgentUrl("http://seller.example.com/agent", "https://seller.example.com/agent"));
  assert.not(sameAgentUrl("not a url", "not a url"));
  assert.is(canonicalAgentUrl("mailto:x@example.com"), undefined);
});

const host = fc.oneof(
  fc.domain(),
  fc.ipV6().map((ip) => `[${ip}]`),
  fc.ipV4(),
  fc.constant("bücher.example"),
);
const path = fc
  .array(fc.oneof(fc.constantFrom("", ".", "..", "a", "%7e", "%2F", "%e2%98%83", "b;c", "~x"), fc.webSegment()), {
    maxLength: 5,
  })
  .map((segments) => segments.map((segment) => `/${segment}`).join(""));
const query = fc.option(fc.webQueryParameters(), { nil: undefined });

test("canonicalising is idempotent, but for dots that were encoded", () => {
  fc.assert(
    fc.property(host, fc.option(fc.nat(65_535), { nil: undefined }), path, query, (name, port, segments, search) => {
      const url = `https://${name}${port === undefined ? "" : `:${port}`}${segments}${search === undefined ? "" : `?${search}`}`;
      const once = canonical(url);
      fc.pre(once !== "malformed" && !/\/%2e(%2e)?(\/|$)/i.test(segments));
      assert.is(canonical(once), once);
    }),
    { numRuns: 1000 },
  );
});

test("never throws, whatever it is given", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string().map((text) => `https://${text}`),
      ),
      (text) => {
        canonical(text);
        canonical(text, "refuse");
      },
    ),
    { numRuns: 3000 },
  );
});

test.run();
