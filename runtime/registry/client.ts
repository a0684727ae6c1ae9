/**
 * A typed client of a registry: `adbind/registry/client`. What a server answers is a value, whatever it is; reading a list
 * to its end throws when a page cannot be had. It loads nothing of the server.
 */
import type { components } from "../../generated/registry/openapi.js";
import { AdbindError } from "../errors.js";
import { retryAfterInSeconds } from "../net/retry-after.js";
import { timerMs } from "../timers.js";
import { type ClientOperation, places, type RegistryRequest, type RegistryResponse } from "./client-places.js";

export { places, type RegistryRequest, type RegistryResponse } from "./client-places.js";

/** An answer that is no success, or none at all. */
export interface RegistryFailure {
  readonly ok: false;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** `error` of the body, or why there was no answer. */
  readonly error: string;
  /** `code` of the body, or `unreachable`, `timeout`, `not_json`. */
  readonly code: string | undefined;
  readonly body: unknown;
  readonly retryAfterSeconds: number | undefined;
}

/** What a registry answered, or why it did not. */
export type RegistryAnswer<T> = { readonly ok: true; readonly status: number; readonly data: T } | RegistryFailure;

/** What one call may have of its own. */
export interface RegistryCallOptions {
  readonly signal?: AbortSignal;
}

type Calls = {
  readonly [Id in ClientOperation]: (
    request: RegistryRequest<Id>,
    options?: RegistryCallOptions,
  ) => Promise<RegistryAnswer<RegistryResponse<Id>>>;
};

type AgentProfile = components["schemas"]["AgentProfile"];
type AgentPublisher = components["schemas"]["AgentPublisher"];

/** Calls a registry: a method for each operation, and lists read to their end. */
export interface RegistryClient extends Calls {
  /** Every agent a search finds, page by page. @throws AdbindError `registry_unanswered` */
  agents(
    filters?: Omit<RegistryRequest<"searchAgents">, "cursor">,
    options?: RegistryCallOptions,
  ): AsyncGenerator<AgentProfile, void>;
  /** Every publisher of an agent, page by page. @throws AdbindError `registry_unanswered` */
  publishers(
    request: Omit<RegistryRequest<"listAgentPublishers">, "cursor">,
    options?: RegistryCallOptions,
  ): AsyncGenerator<AgentPublisher, void>;
}

/** Where the registry is, and how often it is asked again. Times are milliseconds. */
export interface RegistryClientOptions {
  /** Of the registry, e.g. `https://registry.example`. */
  readonly baseUrl: string;
  /** API key or access token; a function is asked before each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Attempts after the first one, on 429, 503 and no answer. Default 3. */
  readonly retries?: number;
  /** Longest wait before another attempt, in milliseconds; where the server asks for more, its answer is given back. Default 60,000. */
  readonly maxWaitMs?: number;
  /** Of one attempt, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  /** Waits; for tests. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1, spreads attempts of many clients. */
  readonly random?: () => number;
  readonly userAgent?: string;
}

const RETRIES = 3;
const MAX_WAIT_MS = 60_000;
const TIMEOUT_MS = 30_000;
/** First wait where the server names none; doubled each time. */
const FIRST_WAIT_MS = 500;

const sleepFor = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(done, timerMs(ms));
    function done(): void {
      signal?.removeEventListener("abort", stopped);
      resolve();
    }
    function stopped(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stopped, { once: true });
  });

interface Outgoing {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string | undefined;
}

function outgoing(baseUrl: string, id: ClientOperation, request: Readonly<Record<string, unknown>>): Outgoing {
  const [method, template] = places[id];
  const used = new Set<string>();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    used.add(name);
    return encodeURIComponent(String(request[name]));
  });
  if (method === "POST") return { method, url: baseUrl + path, body: JSON.stringify(request) };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request)) {
    if (!used.has(name) && value !== undefined) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  return { method, url: `${baseUrl}${path}${query.size > 0 ? `?${query}` : ""}`, body: undefined };
}

const failure = (error: string, code: string | undefined, more: Partial<RegistryFailure> = {}): RegistryFailure => ({
  ok: false,
  status: undefined,
  error,
  code,
  body: undefined,
  retryAfterSeconds: undefined,
  ...more,
});

async function read(response: Response): Promise<RegistryAnswer<unknown>> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return failure("the answer is not JSON", "not_json", { status: response.status, body: text.slice(0, 1_000) });
  }
  if (response.ok) return { ok: true, status: response.status, data: body };
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown };
  return failure(
    typeof error === "string" ? error : `status ${response.status}`,
    typeof code === "string" ? code : undefined,
    {
      status: response.status,
      body,
      retryAfterSeconds: retryAfterInSeconds(response.headers.get("retry-after") ?? undefined, Date.now()),
    },
  );
}

const checkedBaseUrl = (given: string): string => {
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given.replace(/\/+$/, "");
  throw new AdbindError("registry_option_invalid", "the registry's URL cannot be used", {
    where: given,
    remedy: "give https://host",
  });
};

/** One request and its answer; none that comes is a failure too. */
async function attempt(
  options: RegistryClientOptions,
  { method, url, body }: Outgoing,
  signal: AbortSignal | undefined,
): Promise<RegistryAnswer<unknown>> {
  const { token, timeoutMs = TIMEOUT_MS, fetch: fetcher = fetch } = options;
  const credential = typeof token === "function" ? await token() : token;
  const timeout = AbortSignal.timeout(timerMs(timeoutMs));
  try {
    const response = await fetcher(url, {
      method,
      // A redirect would carry the credential elsewhere.
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      headers: {
        accept: "application/json",
        "user-agent": options.userAgent ?? "adbind-registry-client",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      ...(body !== undefined && { body }),
    });
    return await read(response);
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) return failure("the registry did not answer in time", "timeout");
    const cause = (error as Error).cause;
    return failure(`no answer: ${cause instanceof Error ? cause.message : (error as Error).message}`, "unreachable");
  }
}

const passing = ({ status, code }: RegistryFailure): boolean =>
  status === 429 || status === 503 || code === "unreachable" || code === "timeout";

/**
 * @throws AdbindError `registry_option_invalid` for a URL that is none
 */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { retries = RETRIES, maxWaitMs = MAX_WAIT_MS, sleep = sleepFor, random = Math.random } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);

  const call = async (id: ClientOperation, request: object, { signal }: RegistryCallOptions = {}) => {
    const sent = outgoing(baseUrl, id, request as Readonly<Record<string, unknown>>);
    for (let made = 0; ; made += 1) {
      const answer = await attempt(options, sent, signal);
      if (answer.ok || !passing(answer) || made >= retries) return answer;
      const asked = answer.retryAfterSeconds;
      const wait = asked === undefined ? FIRST_WAIT_MS * 2 ** made * (0.5 + random()) : asked * 1000;
      if (wait > maxWaitMs) return answer;
      await sleep(wait, signal);
    }
  };

  const calls = Object.fromEntries(
    (Object.keys(places) as ClientOperation[]).map((id) => [
      id,
      (request: object = {}, given?: RegistryCallOptions) => call(id, request, given),
    ]),
  ) as unknown as Calls;

  return {
    ...calls,
    agents: (filters = {}, given) =>
      everyPage(async (cursor) => {
        const page = await calls.searchAgents({ ...filters, ...(cursor !== undefined && { cursor }) }, given);
        return page.ok ? { ...page.data, items: page.data.results } : page;
      }),
    publishers: (request, given) =>
      everyPage(async (cursor) => {
        const page = await calls.listAgentPublishers({ ...request, ...(cursor !== undefined && { cursor }) }, given);
        return page.ok ? { ...page.data, items: page.data.publishers } : page;
      }),
  };
}

interface ListPage<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
  readonly ok?: undefined;
}

async function* everyPage<T>(
  next: (cursor: string | undefined) => Promise<ListPage<T> | RegistryFailure>,
): AsyncGenerator<T, void> {
  let cursor: string | undefined;
  do {
    const page = await next(cursor);
    if (page.ok === false) {
      throw new AdbindError("registry_unanswered", `a page could not be read: ${page.error}`, {
        where: page.status === undefined ? "no answer" : `status ${page.status}`,
        cause: page,
      });
    }
    yield* page.items;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}
