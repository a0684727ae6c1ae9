/** Pages that keys are discovered from, in memory, and what a key source made of them. */
import * as assert from "uvu/assert";
import type { FetchResult, GuardedRequest } from "../../runtime/net/index.js";
import type { Jwk, KeyResolution, KeySource } from "../../runtime/signing/types.js";

export const AGENT = "https://agent.seller.example.com/mcp";
export const BRAND = "https://example.com/.well-known/brand.json";
export const JWKS = "https://agent.seller.example.com/.well-known/jwks.json";
export const PIN = "https://publisher.example.net/.well-known/adagents.json";

export const key = (kid: string, extra: object = {}): Jwk => ({
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

export type Page = object | string | number | FetchResult;

/** A web of pages: an object is served as JSON, text as it is, a number is a status. Counts requests per URL. */
export function web(pages: Record<string, Page>) {
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

export const show = (resolution: KeyResolution) =>
  resolution.ok ? [resolution.sender, resolution.key.jwk.x] : [resolution.code, resolution.detail];
export const codeOf = (resolution: KeyResolution) => (resolution.ok ? "ok" : resolution.code);
export const now = (source: KeySource, keyid: string): KeyResolution => {
  const found = source.resolve(keyid);
  assert.not.instance(found, Promise);
  return found as KeyResolution;
};
export const down: FetchResult = { ok: false, code: "connect_failed", retryable: true, detail: "refused" };
