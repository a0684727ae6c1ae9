/** Domains as people and files write them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { publisherDomain } from "../../runtime/registry/model.js";

test("a domain is the same however it is written", () => {
  for (const text of [
    "news.example",
    " NEWS.Example. ",
    "https://news.example",
    "http://news.example:8080/path?x#y",
    "news.example:443",
    "news.example..",
    "news.example/a",
  ])
    assert.is(publisherDomain(text), "news.example", text);
  assert.is(publisherDomain("münchen.example"), "xn--mnchen-3ya.example");
  assert.is(publisherDomain("https://MÜNCHEN.example:443/"), "xn--mnchen-3ya.example");
  assert.is(publisherDomain("例え.テスト"), "xn--r8jz45g.xn--zckzah");
});

test("what is no domain is none", () => {
  const texts = [
    "",
    "nodots",
    "127.0.0.1",
    "under_score.example",
    "a..example",
    "-a.example",
    "a.example:port",
    "[::1]:80",
  ];
  for (const text of [
    ...texts,
    "a b.example",
    "*.example.com",
    `${"a".repeat(64)}.example`,
    "ü\u0000.example",
    "a".repeat(5_000),
  ])
    assert.is(publisherDomain(text), undefined, text);
});

test.run();
