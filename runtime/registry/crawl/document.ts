/** Fetches one document of an origin: what came back, or why nothing did in words that may be shown to anyone. */
import { isJsonObject } from "../../contract/json-object.js";
import { parseStrict } from "../../json.js";
import { type Fetcher, type NetCode, netCodes, type RedirectPolicy } from "../../net/index.js";
import type { JsonRecord } from "../../signing/discovery/fetch-json.js";
import { isLeftAlone } from "./left-alone.js";

export type { JsonRecord };

/** From the request to the last byte, in milliseconds (docs/protocol/files.md#where-it-is, 1). */
const TOTAL_MS = 10_000;
/** Silence of an origin, in milliseconds. */
const READ_MS = 5_000;
/** Levels of nesting in a file; real ones have about 8. */
const MAX_DEPTH = 64;

/**
 * What kept a document away. `connection`: no usable connection, or nothing we connect to; `redirect`: one we do not
 * follow; `status`: any but 200, 404 and 410; `answer`: no HTTP, or a compressed body; `opted_out`: its owner wants nothing fetched.
 */
export type FaultKind =
  | "timeout"
  | "connection"
  | "redirect"
  | "status"
  | "absent"
  | "too_large"
  | "answer"
  | "syntax"
  | "shape"
  | "aborted"
  | "opted_out";

export interface NotFetched {
  readonly ok: false;
  readonly kind: FaultKind;
  /** Of the last answer; null when there was none. */
  readonly status: number | null;
  readonly bytes: number | null;
  /** For anyone: says nothing of what names resolve to, or which ports answer. */
  readonly message: string;
  /** For our own logs. */
  readonly detail: string;
}

export interface Fetched {
  readonly ok: true;
  readonly status: number;
  readonly body: Uint8Array;
  /** After redirects. */
  readonly url: string;
}

export interface FetchedDocument {
  readonly ok: true;
  readonly status: number;
  readonly bytes: number;
  readonly url: string;
  readonly value: JsonRecord;
}

export interface DocumentRequest {
  readonly maxBytes: number;
  readonly redirects?: RedirectPolicy;
  readonly signal?: AbortSignal | undefined;
}

function kindOf(code: NetCode): FaultKind {
  switch (code) {
    case "redirect_cross_domain":
    case "redirect_downgrade":
    case "redirect_limit":
    case "redirect_malformed":
      return "redirect";
    case "too_large":
      return "too_large";
    case "encoding_refused":
    case "response_malformed":
      return "answer";
    case "aborted":
      return "aborted";
    case "connect_timeout":
    case "read_timeout":
    case "total_timeout":
      return "timeout";
    case "url_malformed":
    case "scheme_refused":
    case "userinfo_refused":
    case "port_refused":
    case "host_refused":
    case "address_refused":
    case "dns_failed":
    case "connect_failed":
    case "connection_lost":
    case "tls_failed":
      return "connection";
  }
}

function netMessage(code: NetCode, maxBytes: number): string {
  const kind = kindOf(code);
  if (kind === "timeout") return "the origin did not answer in time";
  if (kind === "too_large") return `the file is larger than ${maxBytes} bytes`;
  if (kind === "redirect" || kind === "answer") return netCodes[code].summary;
  return kind === "aborted" ? "the crawl was broken off" : "the origin could not be reached";
}

export const notFetched = (
  kind: FaultKind,
  message: string,
  more: Partial<Pick<NotFetched, "status" | "bytes" | "detail">> = {},
): NotFetched => ({ ok: false, kind, status: null, bytes: null, detail: message, ...more, message });

const LEFT_ALONE = "the file stands where the owner wants nothing fetched";

/** GET; any status is an answer. */
export async function fetchAny(fetch: Fetcher, url: string, request: DocumentRequest): Promise<Fetched | NotFetched> {
  const { signal, ...rest } = request;
  const result = await fetch(url, {
    ...rest,
    headers: { accept: "application/json, text/plain;q=0.5" },
    timeouts: { readMs: READ_MS, totalMs: TOTAL_MS },
    ...(signal !== undefined && { signal }),
  });
  if (result.ok) return { ok: true, status: result.status, body: result.body, url: result.url };
  if (isLeftAlone(result)) return notFetched("opted_out", LEFT_ALONE);
  return notFetched(kindOf(result.code), netMessage(result.code, request.maxBytes), {
    detail: `${result.code}: ${result.detail}`,
  });
}

const startsWithMark = (body: Uint8Array): boolean => body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;

/** What an answer holds, if it is a JSON object. */
export function readFetched(fetched: Fetched): FetchedDocument | NotFetched {
  const { status, body, url } = fetched;
  const seen = { status, bytes: body.byteLength };
  if (status === 404 || status === 410) return notFetched("absent", `the origin answered with status ${status}`, seen);
  if (status !== 200) return notFetched("status", `the origin answered with status ${status}`, seen);
  // Editors leave a byte order mark; nothing is signed here, so that two readers may differ over it does no harm.
  const parsed = parseStrict(startsWithMark(body) ? body.subarray(3) : body, MAX_DEPTH);
  if (!parsed.ok) return notFetched("syntax", `the file cannot be read: ${parsed.detail}`, seen);
  if (!isJsonObject(parsed.value)) return notFetched("shape", "the file is not a JSON object", seen);
  return { ok: true, status, bytes: body.byteLength, url, value: parsed.value };
}

export async function fetchDocument(
  fetch: Fetcher,
  url: string,
  request: DocumentRequest,
): Promise<FetchedDocument | NotFetched> {
  const fetched = await fetchAny(fetch, url, request);
  return fetched.ok ? readFetched(fetched) : fetched;
}
