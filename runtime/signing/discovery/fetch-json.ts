/** Fetches a JSON document for discovery, under its caps, as a value. */
import { isJsonObject } from "../../contract/json-object.js";
import { parseStrict } from "../../json.js";
import {
  createGuardedFetch,
  discoveryTimeouts,
  type Fetcher,
  type GuardedFetch,
  netCodes,
  type RedirectPolicy,
} from "../../net/index.js";
import type { LoadFailure } from "./document.js";

export type JsonRecord = { readonly [member: string]: unknown };

export interface JsonRequest {
  readonly maxBytes: number;
  readonly redirects?: RedirectPolicy;
  /** `ETag` of what is held; the origin may then answer 304. */
  readonly etag?: string | undefined;
}

export interface FetchedBytes {
  readonly ok: true;
  readonly bytes: Uint8Array;
  /** 304: what is held is still current. */
  readonly unchanged: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FetchedJson {
  readonly ok: true;
  readonly value: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
}

export const failure = (kind: LoadFailure["kind"], detail: string): LoadFailure => ({ ok: false, kind, detail });

/** GET of a document that has to be there: anything but 200, and 304 where an `etag` was sent, is a failure. */
export async function fetchBytes(
  fetch: Fetcher,
  url: string,
  request: JsonRequest,
): Promise<FetchedBytes | LoadFailure> {
  const { readMs, totalMs } = discoveryTimeouts;
  const { etag, ...rest } = request;
  const headers = { accept: "application/json", ...(etag !== undefined && { "if-none-match": etag }) };
  const result = await fetch(url, { ...rest, headers, timeouts: { readMs, totalMs } });
  if (!result.ok) {
    // A name that resolves to a private address may be a resolver's fault, but it is no place to take keys from.
    return failure(netCodes[result.code].kind === "refused" ? "refused" : "unreachable", result.detail);
  }
  if (result.status === 404 || result.status === 410) return failure("absent", `status ${result.status}`);
  const unchanged = result.status === 304 && etag !== undefined;
  if (result.status !== 200 && !unchanged) return failure("unreachable", `status ${result.status}`);
  return { ok: true, bytes: result.body, unchanged, headers: result.headers };
}

/**
 * GET of a strict JSON object. Broken JSON counts as unreachable: a half-written deployment heals, and the sender's
 * retry then finds it healed.
 */
export async function fetchJson(fetch: Fetcher, url: string, request: JsonRequest): Promise<FetchedJson | LoadFailure> {
  const fetched = await fetchBytes(fetch, url, request);
  if (!fetched.ok) return fetched;
  const read = objectIn(fetched.bytes);
  return read.ok ? { ...read, headers: fetched.headers } : read;
}

/** @param maxDepth deepest nesting accepted, in levels */
export function objectIn(
  bytes: Uint8Array,
  maxDepth?: number,
): { readonly ok: true; readonly value: JsonRecord } | LoadFailure {
  const parsed = parseStrict(bytes, maxDepth);
  if (!parsed.ok) return failure("unreachable", parsed.detail);
  return isJsonObject(parsed.value) ? { ok: true, value: parsed.value } : failure("unreachable", "not a JSON object");
}

/** Shortest time a document is kept: an origin that sends `max-age=0` must not be asked for every webhook. */
export const MIN_TTL_S = 60;

/** Seconds a response may be used for: its max-age, at least `MIN_TTL_S` and at most `maxSeconds`. */
export function ttlOf(responseHeaders: Readonly<Record<string, string>>, maxSeconds: number): number {
  const control = responseHeaders["cache-control"]?.toLowerCase() ?? "";
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])/.test(control)) return MIN_TTL_S;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(control)?.[1];
  return Math.min(maxSeconds, Math.max(MIN_TTL_S, maxAge === undefined ? maxSeconds : Number(maxAge)));
}

let shared: GuardedFetch | undefined;

/** The fetch of whoever names none: production rules. One for the process, made when first needed. */
export const defaultFetch = (): Fetcher => {
  shared ??= createGuardedFetch({ timeouts: discoveryTimeouts });
  return shared;
};
