/**
 * What ports send over HTTP, recorded in development: a test then sees whether a call that was answered did what it says. Node
 * tells of requests by its diagnostics channels, whoever makes them: `fetch`, undici and `node:http`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import diagnostics from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { Ports } from "../ports/index.js";

/** What a request is for, as the wire has it. */
type Purpose = "platform_primary" | "measurement" | "attribution" | "creative_serving" | "other";

export interface UpstreamCall {
  readonly method: string;
  readonly url: string;
  readonly contentType: string | undefined;
  readonly purpose: Purpose;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The start of what was sent. */
  readonly body: Buffer;
  readonly status: number | undefined;
}

export interface UpstreamRecorder {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Work for a principal: what ports send meanwhile is on its record, and on no other's. */
  within<T>(principal: string, work: () => T): T;
  /** The same ports; what they send is known to be theirs. */
  watched(ports: Ports): Ports;
  callsOf(principal: string): readonly UpstreamCall[];
  stop(): void;
}

/** Longest body that is kept, in bytes, of how many calls, and of how many callers: a development server is small. */
const MAX = { body: 64 * 1024, calls: 1_000, principals: 100 } as const;

const purposes: Readonly<Record<keyof Ports, Purpose>> = {
  adServer: "platform_primary",
  signals: "platform_primary",
  creatives: "creative_serving",
  reporting: "measurement",
  events: "attribution",
  catalogue: "other",
  approvals: "other",
  accounts: "other",
  provenance: "other",
  governance: "other",
  properties: "other",
  collections: "other",
  policy: "other",
  brands: "other",
  conversations: "other",
  transformers: "platform_primary",
  audiences: "platform_primary",
};

interface Scope {
  readonly principal: string;
  /** Only what a port sends is recorded. */
  readonly purpose?: Purpose;
}

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly contentType: string | undefined;
  readonly purpose: Purpose;
  readonly at: number;
  readonly chunks: Buffer[];
  size: number;
  status: number | undefined;
}

function keep(recorded: Recorded | undefined, chunk: unknown): void {
  if (recorded === undefined || recorded.size >= MAX.body) return;
  if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
  const bytes = Buffer.from(chunk as Uint8Array).subarray(0, MAX.body - recorded.size);
  recorded.chunks.push(bytes);
  recorded.size += bytes.length;
}

/** Of names and values one after the other, or of lines. */
function headerIn(headers: unknown, name: string): string | undefined {
  const list = typeof headers === "string" ? headers.split(/\r?\n|: /) : Array.isArray(headers) ? headers : [];
  const at = list.findIndex((one, index) => index % 2 === 0 && String(one).toLowerCase() === name);
  return at < 0 ? undefined : String(list[at + 1]);
}

interface UndiciRequest {
  readonly origin?: string | URL;
  readonly method: string;
  readonly path: string;
  readonly headers?: unknown;
}

/** What a channel tells is what its maker says it is. */
const hearing =
  <M>(hear: (message: M) => void) =>
  (message: unknown): void =>
    hear(message as M);

/** Starts listening; `stop` ends it. */
export function upstreamRecorder(now: () => number = Date.now): UpstreamRecorder {
  const scope = new AsyncLocalStorage<Scope>();
  const calls = new Map<string, Recorded[]>();
  const open = new WeakMap<object, Recorded>();
  const begin = (request: object, what: Pick<Recorded, "method" | "url" | "contentType">): Recorded | undefined => {
    const { principal, purpose } = scope.getStore() ?? {};
    if (principal === undefined || purpose === undefined) return undefined;
    const recorded: Recorded = { ...what, purpose, at: now(), chunks: [], size: 0, status: undefined };
    const own = calls.get(principal) ?? [];
    if (own.length >= MAX.calls) own.shift();
    own.push(recorded);
    if (calls.size >= MAX.principals && !calls.has(principal)) calls.delete(calls.keys().next().value!);
    calls.set(principal, own);
    open.set(request, recorded);
    return recorded;
  };
  const channels: Readonly<Record<string, (message: unknown) => void>> = {
    "undici:request:create": hearing(({ request }: { request: UndiciRequest }) => {
      const { method, path, origin = "", headers } = request;
      begin(request, { method, url: `${origin}${path}`, contentType: headerIn(headers, "content-type") });
    }),
    "undici:request:bodyChunkSent": hearing(({ request, chunk }: { request: object; chunk: unknown }) =>
      keep(open.get(request), chunk),
    ),
    "undici:request:headers": hearing(
      ({ request, response }: { request: object; response: { statusCode: number } }) => {
        const recorded = open.get(request);
        if (recorded !== undefined) recorded.status = response.statusCode;
      },
    ),
    "http.client.request.created": hearing(({ request }: { request: ClientRequest }) => {
      const { method, protocol, path } = request;
      const contentType = request.getHeader("content-type");
      const recorded = begin(request, {
        method,
        url: `${protocol}//${request.getHeader("host") ?? request.host}${path}`,
        contentType: contentType === undefined ? undefined : String(contentType),
      });
      if (recorded !== undefined) listen(request, recorded);
    }),
  };
  for (const [name, on] of Object.entries(channels)) diagnostics.subscribe(name, on);
  return {
    since: now(),
    within: (principal, work) => scope.run({ principal }, work),
    watched: (ports) =>
      Object.fromEntries(
        Object.entries(ports).map(([name, port]) => [name, watchedPort(scope, port, purposes[name as keyof Ports])]),
      ) as unknown as Ports,
    callsOf: (principal) =>
      (calls.get(principal) ?? []).map(({ chunks, size: _, ...call }) => ({ ...call, body: Buffer.concat(chunks) })),
    stop() {
      for (const [name, on] of Object.entries(channels)) diagnostics.unsubscribe(name, on);
    },
  };
}

/** What goes through a request of node:http: no channel tells of it. */
function listen(request: ClientRequest, recorded: Recorded): void {
  for (const name of ["write", "end"] as const) {
    const own = request[name] as (...given: unknown[]) => never;
    (request as unknown as Record<string, unknown>)[name] = (...given: unknown[]) => {
      keep(recorded, given[0]);
      return own.apply(request, given);
    };
  }
  request.once("response", ({ statusCode }) => {
    recorded.status = statusCode;
  });
}

const watchedPort = <P extends object>(scope: AsyncLocalStorage<Scope>, port: P, purpose: Purpose): P =>
  // An object of its own stands in for the port: of a frozen one nothing else could be shown.
  new Proxy(Object.create(port) as P, {
    get(_, name) {
      const value: unknown = Reflect.get(port, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const caller = scope.getStore();
        const called = () => Reflect.apply(value, port, given);
        return caller === undefined ? called() : scope.run({ principal: caller.principal, purpose }, called);
      };
    },
  });
