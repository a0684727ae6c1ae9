/**
 * Requests to URLs that somebody else chose: webhook receivers, key sets, brand and authorisation files. What can go
 * wrong on the way is a value; only a wrong use of the function throws.
 */
import { AdbindError } from "../errors.js";
import type { BodyWanted, Enough, HttpAnswer, ReadBody } from "./answer.js";
import { type NetCode, netCodes } from "./codes.js";
import { errorCode } from "./connect.js";
import { Deadline } from "./deadline.js";
import {
  checkedPolicy,
  checkedTimeouts,
  DEFAULT_MAX_BYTES,
  type NetPolicy,
  type NetPolicyOptions,
  type Timeouts,
} from "./policy.js";
import { headersFor, isRedirect, nextHop, type RedirectPolicy } from "./redirect.js";
import { checkTarget, type Target } from "./target.js";
import {
  createFetchTransport,
  createSocketTransport,
  faultOf,
  type Transport,
  type TransportRequest,
} from "./transport.js";

/** One request of a guarded fetch. Sizes are bytes, times milliseconds. */
export interface GuardedRequest {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Bytes of the answer's body, default 5 MiB. */
  readonly maxBytes?: number;
  /** A larger body: `refuse` is a failure, `truncate` keeps what fits, for callers who only need the status. */
  readonly oversize?: "refuse" | "truncate";
  /**
   * Default true. False where only status and headers matter: the answer is told as soon as they are there, with an empty
   * body. What is slow or cut after that changes nothing. `briefly`: with what comes of the body in a second. A function is
   * asked with the status.
   */
  readonly readBody?: ReadBody | ((status: number) => ReadBody);
  /**
   * Looks at what comes of the body, and says when that is all that is wanted: the answer is told then, though the peer has not
   * ended it. Default none: a body is read to its end. Whoever carries requests instead may know nothing of it.
   */
  readonly enough?: Enough;
  /** Default none: a 3xx is the answer. Only GET and HEAD are ever redirected. */
  readonly redirects?: RedirectPolicy;
  /** `connectMs` belongs to the connection and is set at construction. */
  readonly timeouts?: Partial<Omit<Timeouts, "connectMs">>;
  readonly signal?: AbortSignal;
}

/** An answer, whatever its status. */
export interface FetchResponse {
  readonly ok: true;
  /** Any status at all: what it means is the caller's to say. */
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly truncated: boolean;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

/** A request that had no answer. */
export interface FetchFailure {
  readonly ok: false;
  readonly code: NetCode;
  readonly retryable: boolean;
  /** For our own logs. The party that gave the URL may be told `publicReason(code)` and no more. */
  readonly detail: string;
}

/** What came of a request: an answer or a failure, never an exception. */
export type FetchResult = FetchResponse | FetchFailure;

/** What everything that fetches is handed: the real thing, or a test's function. */
export type Fetcher = (url: string, request?: GuardedRequest) => Promise<FetchResult>;

/** A fetch that reaches public hosts only; `close` ends its connections. */
export interface GuardedFetch extends Fetcher {
  /** Lets requests in flight end and closes idle connections. */
  close(): Promise<void>;
}

/** How a guarded fetch behaves in all of its requests. */
export interface GuardedFetchOptions extends NetPolicyOptions {
  /**
   * Carries the requests instead of adbind's own connections, after URL and addresses were checked. Connections are then
   * not pinned: for tests with an HTTP interceptor, and where an egress gateway does the pinning.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** `User-Agent` of every request that sets none. */
  readonly userAgent?: string;
}

/** Fields that belong to the connection or would point the request elsewhere. */
const reservedHeaders = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "keep-alive",
  "accept-encoding",
]);

const badRequest = (where: string, remedy: string, cause?: unknown): AdbindError =>
  new AdbindError("net_option_invalid", "A request cannot be made as asked", { where, remedy, cause });

function requestHeaders(given: GuardedRequest["headers"], userAgent: string): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": userAgent };
  for (const name of Object.keys(given ?? {})) {
    const lower = name.toLowerCase();
    if (reservedHeaders.has(lower)) {
      throw badRequest(`headers.${name}`, "leave it out: it belongs to the connection");
    }
    if (lower === "user-agent") delete headers["user-agent"];
    headers[name] = given![name]!;
  }
  // A compressed body would be capped on the wire and unbounded in memory.
  headers["accept-encoding"] = "identity";
  return headers;
}

/** The body of a redirect is of no use; a little of it is read so that the connection can serve the next hop. */
const OF_REDIRECT: BodyWanted = { maxBytes: 4_096, oversize: "truncate", read: true };

/** What of an answer's body is wanted. */
function readingOf(request: GuardedRequest): (status: number) => BodyWanted {
  const { redirects, maxBytes = DEFAULT_MAX_BYTES, oversize = "refuse", readBody = true, enough } = request;
  return (status) => {
    if (redirects !== undefined && isRedirect(status)) return OF_REDIRECT;
    return { maxBytes, oversize, read: typeof readBody === "function" ? readBody(status) : readBody, enough };
  };
}

const responseFrom = ({ url }: Target, { status, headers, body, truncated }: HttpAnswer): FetchResponse => ({
  ok: true,
  status,
  headers,
  body,
  truncated,
  url: url.href,
});

/** URLs that were found good, which are asked for again and again; what their names stand for is looked up each time. */
const TARGETS = 1_000;

function rememberingTargets(policy: NetPolicy): (text: string) => Target {
  const known = new Map<string, Target>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const target = checkTarget(text, policy);
    if (known.size >= TARGETS) known.clear();
    known.set(text, target);
    return target;
  };
}

function checkRequest(request: GuardedRequest): void {
  const { maxBytes, redirects, method = "GET" } = request;
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes >= 0))
    throw badRequest("maxBytes", "give bytes");
  if (redirects !== undefined && method !== "GET" && method !== "HEAD") {
    throw badRequest("redirects", "only GET and HEAD may follow any");
  }
}

/**
 * Makes a fetch that reaches public HTTPS hosts only (docs/protocol/signing.md#outbound-requests): URL read strictly, every
 * address of the name checked, the connection pinned to what was checked, sizes and times capped, nothing decompressed.
 * @throws AdbindError `net_option_invalid` when an option cannot be used
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const policy = checkedPolicy(options);
  const transport: Transport =
    options.fetch === undefined ? createSocketTransport(policy) : createFetchTransport(options.fetch, policy);
  const targetOf = rememberingTargets(policy);
  const userAgent = options.userAgent ?? "adbind";

  const following = async (
    first: Target,
    request: TransportRequest,
    redirects: RedirectPolicy,
  ): Promise<FetchResponse> => {
    let current = first;
    let { headers } = request;
    for (let count = 0; ; count += 1) {
      const answer = await transport.send(current, { ...request, headers });
      if (!isRedirect(answer.status)) return responseFrom(current, answer);
      const { location } = answer.headers;
      const next = nextHop({ first: first.url, current: current.url, location, count }, redirects, policy);
      headers = headersFor(headers, current.url, next.url);
      current = next;
    }
  };

  const guarded = async (text: string, request: GuardedRequest = {}): Promise<FetchResult> => {
    checkRequest(request);
    const { method = "GET", body, redirects } = request;
    const timeouts = checkedTimeouts(policy.timeouts, request.timeouts);
    const deadline = new Deadline(timeouts.totalMs, request.signal);
    try {
      const target = targetOf(text);
      const headers = requestHeaders(request.headers, userAgent);
      const asked = { method, headers, body, timeouts, deadline, readingOf: readingOf(request) };
      if (redirects !== undefined) return await following(target, asked, redirects);
      return responseFrom(target, await transport.send(target, asked));
    } catch (error) {
      if (error instanceof AdbindError) throw error;
      if (errorCode(error) === "UND_ERR_INVALID_ARG")
        throw badRequest("headers", "give a valid method and headers", error);
      const { code, detail } = deadline.fault ?? faultOf(error, hostForLog(text));
      return { ok: false, code, retryable: netCodes[code].retryable, detail };
    } finally {
      deadline.clear();
    }
  };
  return Object.assign(guarded, { close: () => transport.close() });
}

/** Paths and queries of webhook URLs may hold secrets; the host is enough to find the trouble. */
const hostForLog = (text: string): string => (URL.canParse(text) ? new URL(text).hostname : "unreadable URL");
