/** The canonical form of URLs, rule by rule, with the cases in which parsers are known to differ. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  canonicalAgentUrl,
  canonicalAuthority,
  canonicalUrl,
  endpointPattern,
  sameAgentUrl,
} from "../../runtime/url.js";
import { forms } from "./url-forms.js";

const canonical = (url: string, unicodeHost: "convert" | "refuse" = "convert"): string => {
  const result = canonicalUrl(url, { unicodeHost });
  return result.ok ? result.url : result.reason;
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

test("a pattern over endpoints has a star and nothing else, and takes any case", () => {
  const matches = (pattern: string, endpoint: string) => endpointPattern(pattern).test(endpoint);
  assert.ok(matches("POST */audience/upload", "POST https://Ads.example/v1/audience/upload"));
  assert.ok(matches("post https://ads.example/*", "POST https://ADS.example/x?y=1"));
  assert.not(matches("POST https://ads.example/v1", "POST https://ads.example/v1/more"));
  assert.not(matches("POST https://ads.example/v1", "POST https://adsXexample/v1"), "a dot is a dot");
});

test.run();
