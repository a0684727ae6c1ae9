/** Asks one agent what it is: whether it answers, which tools it has, and what it says it can do. Nothing is written here. */
import { randomUUID } from "node:crypto";
import type { JsonObject, TransportName } from "../../contract/index.js";
import { answerEvent } from "../../net/answer-event.js";
import type { Fetcher } from "../../net/index.js";
import type { Connection, WireUse } from "../../transport/caller.js";
import { openConnection } from "../../transport/callers.js";
import { WireFault } from "../../transport/fault.js";

/** All that is asked of one agent, and one request of it, in milliseconds. */
const TOTAL_MS = 15_000;
const REQUEST_MS = 8_000;
/** Of one answer, in bytes: a list of tools with their schemas is large. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_TOOLS = 500;
const MAX_TOOL_NAME = 128;
/** What an agent says it can do, in characters of JSON; one that says more is told without it. */
const MAX_CAPABILITIES = 16_384;

/** What an agent said, as far as it did. */
export interface ProbedAgent {
  /** It answered as an agent does, or asked for credentials. */
  readonly online: boolean;
  readonly transport: TransportName | null;
  /** From the first request to its list of tools, in milliseconds. */
  readonly responseMs: number | null;
  /** Null where it did not list them. */
  readonly tools: readonly string[] | null;
  readonly toolsCount: number | null;
  /** Its own words, as they came. */
  readonly capabilities: JsonObject | null;
  /** For anyone: says nothing of what names resolve to, or which ports answer. */
  readonly error: string | null;
}

/** A `fetch` for the transports' SDKs that asks nothing else than the guarded one may. */
const wireFetch =
  (fetch: Fetcher, signal: AbortSignal) =>
  ({ edit, seen }: WireUse): typeof globalThis.fetch =>
  async (input, init) => {
    const given = Object.fromEntries(new Headers(init?.headers));
    const method = (init?.method ?? "GET").toUpperCase();
    // Streams of a server's own messages are not listened to.
    if (method === "GET" && given.accept === "text/event-stream") return new Response(null, { status: 405 });
    const { host: _, connection: __, "content-length": ___, "accept-encoding": ____, ...headers } = given;
    const text = typeof init?.body === "string" ? init.body : undefined;
    const body = text === undefined || edit === undefined ? text : JSON.stringify(edit(JSON.parse(text) as JsonObject));
    const url = String(input instanceof Request ? input.url : input);
    const timeouts = { readMs: REQUEST_MS, totalMs: REQUEST_MS };
    const asked = body && { body, enough: answerEvent(body) };
    const result = await fetch(url, { method, headers, maxBytes: MAX_BYTES, timeouts, signal, ...asked });
    if (!result.ok) throw new WireFault("no answer", { retryable: result.retryable });
    const { status } = result;
    const answer = new TextDecoder().decode(result.body);
    if (status >= 300) throw new WireFault(`HTTP ${status}`, { status, body: answer });
    seen?.(parsed(answer));
    const { "content-length": ____length, ...kept } = result.headers;
    return new Response(status === 202 || status === 204 ? null : answer, { status, headers: kept });
  };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const nothing = { transport: null, responseMs: null, tools: null, toolsCount: null, capabilities: null } as const;

/** Our own fault under whatever an SDK has put around it. */
function faultIn(error: unknown): WireFault | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof WireFault) return at;
  return undefined;
}

function failed(error: unknown): ProbedAgent {
  const status = faultIn(error)?.status;
  if (status === 401 || status === 403) return { ...nothing, online: true, error: "the agent asks for credentials" };
  const why = status === undefined ? "the agent did not answer as one" : `the agent answered with status ${status}`;
  return { ...nothing, online: false, error: why };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const nameForm = /^[^\u0000-\u001f\u007f]+$/;
const isName = (name: unknown): name is string =>
  typeof name === "string" && name.length <= MAX_TOOL_NAME && name.isWellFormed() && nameForm.test(name);

/** The tool by which agents of this protocol tell what they can do; the protocol's word stands in its name. */
const capabilitiesTool = (tools: readonly string[]): { tool: string; word: string } | undefined => {
  const found = tools.map((name) => /^get_([a-z]+)_capabilities$/.exec(name)).find((match) => match !== null);
  return found == null ? undefined : { tool: found[0], word: found[1]! };
};

/** @param fetch a guarded one: agents' URLs are written by anybody */
export async function probeAgent(
  {
    fetch,
    now,
    signal: stopping,
  }: { readonly fetch: Fetcher; readonly now: () => number; readonly signal: AbortSignal },
  url: string,
): Promise<ProbedAgent> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(TOTAL_MS)]);
  const open = (word: string, transport: TransportName | "auto"): Promise<Connection> => {
    const fetchFor = wireFetch(fetch, signal);
    return openConnection(transport, { url, word, timeoutMs: REQUEST_MS, uuid: randomUUID, fetchFor }, signal);
  };
  const began = now();
  let connection: Connection | undefined;
  try {
    connection = await open("", "auto");
    const { transport } = connection;
    const all = [...new Set((await connection.tools(signal)).filter(isName))];
    const responseMs = Math.max(0, now() - began);
    const tools = all.slice(0, MAX_TOOLS);
    const answered = { online: true, transport, responseMs, tools, toolsCount: all.length, error: null } as const;
    return {
      ...answered,
      capabilities: await capabilitiesOf(all, connection, (word) => open(word, transport), signal),
    };
  } catch (error) {
    return failed(error);
  } finally {
    await connection?.close().catch(() => undefined);
  }
}

/** What the agent says it can do; null where it does not say, which is no fault of its health. */
async function capabilitiesOf(
  tools: readonly string[],
  connection: Connection,
  reopen: (word: string) => Promise<Connection>,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const wanted = capabilitiesTool(tools);
  if (wanted === undefined) return null;
  let speaking = connection;
  try {
    // Over A2A the extension that an agent wants named has the word in it.
    if (connection.transport === "a2a") speaking = await reopen(wanted.word);
    const { payload, error } = await speaking.call({
      tool: wanted.tool,
      args: {},
      push: undefined,
      contextId: undefined,
      signal,
    });
    return error === null && payload !== null && JSON.stringify(payload).length <= MAX_CAPABILITIES ? payload : null;
  } catch {
    return null;
  } finally {
    if (speaking !== connection) await speaking.close().catch(() => undefined);
  }
}
