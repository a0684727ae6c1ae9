/** Carries one request, no redirects: over our own checked connections, or through a given `fetch`. */
import { Agent, type Dispatcher, errors } from "undici";
import { AnswerHandler, BodyReader, type BodyWanted, briefMs, type HttpAnswer, NOBODY_READS, Rests } from "./answer.js";
import { NetFault } from "./codes.js";
import { errorCode, guardedConnector, resolveChecked } from "./connect.js";
import type { Deadline } from "./deadline.js";
import type { NetPolicy, Timeouts } from "./policy.js";
import type { Target } from "./target.js";

export interface TransportRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | undefined;
  readonly timeouts: Timeouts;
  readonly deadline: Deadline;
  /** What is wanted of the body of an answer, by its head. */
  readonly readingOf: (status: number, headers: HttpAnswer["headers"]) => BodyWanted;
}

export interface Transport {
  /** Answers, or rejects at the deadline at the latest: a limit in time holds whatever the peer does. */
  send(target: Target, request: TransportRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Response header fields in bytes, RFC 9110 leaves the limit to us: enough for any cookie jar, small enough to hold. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How long an idle connection is kept: it spares a sender the handshake of the next event, and costs a descriptor. */
const KEEP_ALIVE_MS = 4_000;

/** undici over `guardedConnector`: what production uses. */
export function createSocketTransport(policy: NetPolicy): Transport {
  const fresh = (): Agent =>
    new Agent({
      connect: guardedConnector(policy),
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A peer that names a longer time has no descriptor for longer.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  let agent = fresh();
  const rests = new Rests();
  return {
    send: ({ url, path }, { method, headers, body, timeouts, deadline, readingOf }) =>
      new Promise((resolve, reject) => {
        agent.dispatch(
          {
            origin: url.origin,
            path,
            method: method as Dispatcher.HttpMethod,
            headers,
            body: body ?? null,
            headersTimeout: timeouts.readMs,
            bodyTimeout: timeouts.readMs,
          },
          new AnswerHandler({ deadline, rests, readingOf, resolve, reject }),
        );
      }),
    close() {
      const ended = agent;
      // Who sends again, having been started again, opens connections again.
      agent = fresh();
      return ended.close();
    },
  };
}

/** @param limitMs after which it throws, in milliseconds; none by default */
async function* chunksOf(body: ReadableStream<Uint8Array> | null, limitMs?: number): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  let late = false;
  const giveUp = (): void => void reader.cancel().catch(() => undefined);
  const end = (): void => {
    late = true;
    giveUp();
  };
  const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    if (late) throw NOBODY_READS;
  } finally {
    clearTimeout(timer);
    giveUp();
  }
}

/** @returns whether there is more of it than fits */
async function readInto(reader: BodyReader, body: ReadableStream<Uint8Array> | null, deadline: Deadline) {
  const brief = reader.reading.read === "briefly";
  try {
    for await (const chunk of chunksOf(body, brief ? briefMs(deadline) : undefined)) {
      // Leaving the loop early gives the connection up.
      if (!reader.take(chunk)) return reader.truncated;
    }
    return false;
  } catch (fault) {
    if (brief) return true;
    throw fault;
  }
}

/**
 * The `fetch` of a caller who needs one (a test's interceptor, an egress gateway). The name is resolved and checked
 * first, but the connection is that fetch's own: pinning is then its business.
 */
export function createFetchTransport(fetch: typeof globalThis.fetch, policy: NetPolicy): Transport {
  const send: Transport["send"] = async ({ url }, { method, headers, body, deadline, readingOf }) => {
    await resolveChecked(url.hostname.replace(/^\[|\]$/g, ""), policy);
    const response = await fetch(url.href, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : Buffer.from(body) }),
      redirect: "manual",
      signal: deadline.signal,
    });
    const { status } = response;
    const flat = Object.fromEntries(response.headers);
    const reading = readingOf(status, flat);
    const reader = new BodyReader(reading, flat);
    if (reading.read === false) {
      response.body?.cancel().catch(() => undefined);
      return { status, headers: flat, body: reader.body, truncated: false };
    }
    const truncated = await readInto(reader, response.body, deadline);
    return { status, headers: flat, body: reader.body, truncated };
  };
  // Neither a resolver nor a fetch of somebody else's need heed it.
  const sendInTime: Transport["send"] = (target, request) =>
    new Promise((resolve, reject) => {
      request.deadline.onEnd(reject);
      send(target, request).then(resolve, reject);
    });
  return { send: sendInTime, close: async () => undefined };
}

/** What an error of a transport means; the abort reason is a fault of ours already. */
export function faultOf(error: unknown, host: string): NetFault {
  if (error instanceof NetFault) return error;
  const cause = (error as { cause?: unknown } | null)?.cause;
  if (cause instanceof NetFault) return cause;
  const code = errorCode(cause ?? error);
  const detail = `${host}: ${code}`;
  if (error instanceof errors.HTTPParserError) return new NetFault("response_malformed", `${host}: not HTTP`);
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT")
    return new NetFault("read_timeout", detail);
  if (code === "UND_ERR_CONNECT_TIMEOUT") return new NetFault("connect_timeout", detail);
  if (code === "UND_ERR_HEADERS_OVERFLOW") return new NetFault("response_malformed", detail);
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return new NetFault("response_malformed", detail);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return new NetFault("dns_failed", detail);
  if (["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"].includes(code)) return new NetFault("connect_failed", detail);
  if (code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_")) return new NetFault("tls_failed", detail);
  return new NetFault("connection_lost", detail);
}
