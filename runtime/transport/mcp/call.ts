/** Tools over MCP's streamable HTTP, by the official SDK: without a session where the agent knows how, else with one. */
import { Client, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../contract/index.js";
import { extractMcpResponse, extractTransportError } from "../../extract/index.js";
import { hasLongText, MAX_TEXT_CHARS, parseObject, textItems } from "../../extract/mcp.js";
import { timerMs } from "../../timers.js";
import { unlessAborted } from "../../unless-aborted.js";
import type { CallerDependencies, Connection, WireAnswer } from "../caller.js";
import { shortText, WireFault, wireFaultIn } from "../fault.js";
import { answersOnly } from "./answers-only.js";
import { deniesSession } from "./denied-session.js";
import { sdkWords } from "./sdk-words.js";

/**
 * Pages of `tools/list` read at most, and how many times one request's time all of them have: an agent that never ends its list
 * must not hold the caller. A list that is longer is an error, since whoever has a part of it takes the rest for what is not there.
 */
const MAX_PAGES = 250;
const LIST_TIMES = 10;

/** Opens a connection, in the newest revision both sides have. @throws WireFault, or an error with the `code` and `data` of JSON-RPC */
export async function openMcp(dependencies: CallerDependencies, signal: AbortSignal | undefined): Promise<Connection> {
  const { word, timeoutMs } = dependencies;
  const limits = (given: AbortSignal | undefined) => ({
    timeout: timeoutMs,
    ...(given !== undefined && { signal: given }),
  });
  let current = Promise.resolve(await beginSession(dependencies, limits(signal)));
  /** Begins another session in place of one; that is not closed, since calls beside this one may wait in it for answers. */
  const renewed = (used: Promise<Session>): Promise<Session> => {
    if (current !== used) return current;
    const begun = beginSession(dependencies, limits(undefined));
    current = begun;
    // Where none begins, the next call finds the old one, and tries again.
    begun.catch(() => {
      if (current === begun) current = used;
    });
    return begun;
  };
  /** What a session that its agent has let go was not asked is asked in a new one, which calls side by side share. */
  async function inSession<T>(given: AbortSignal | undefined, job: (client: Client) => Promise<T>): Promise<T> {
    const used = current;
    const session = await unlessAborted(used, given);
    try {
      return await job(session.client);
    } catch (error) {
      if (!endsSession(error, session, word)) throw error;
      return job((await unlessAborted(renewed(used), given)).client);
    }
  }
  return {
    transport: "mcp",
    async call({ tool, args, push, signal: given }) {
      const params = { name: tool, arguments: push === undefined ? args : { ...args, push_notification_config: push } };
      const request = { method: "tools/call", params } as const;
      const result = await inSession(given, (client) => client.request(request, asItCame, limits(given)));
      return readResult(result as JsonObject, word);
    },
    async tools(given) {
      const over = AbortSignal.timeout(timerMs(LIST_TIMES * timeoutMs));
      const until = given === undefined ? over : AbortSignal.any([given, over]);
      try {
        // The SDK asks for page after page.
        const listed = await inSession(until, (client) => client.listTools(undefined, limits(until)));
        return listed.tools.map(({ name }) => name);
      } catch (error) {
        given?.throwIfAborted();
        throw endless(error, over) ?? inWords(error);
      }
    },
    close: () => current.then(endSession),
  };
}

/** What an agent has to take leave in, in milliseconds: who does not hear of the end ends sessions by himself. */
const LEAVE_MS = 2_000;

/** Agents keep a session until they are told of its end, and some allow only so many. */
async function endSession({ client, transport }: Session): Promise<void> {
  // Many know no end of sessions (405), or have let this one go (404).
  await unlessAborted(transport.terminateSession(), AbortSignal.timeout(LEAVE_MS)).catch(() => undefined);
  await client.close();
}

interface Session {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

async function beginSession(
  { url, fetchFor }: CallerDependencies,
  limits: { readonly timeout: number; readonly signal?: AbortSignal },
): Promise<Session> {
  const options = { capabilities: {}, versionNegotiation: { mode: "auto" }, listMaxPages: MAX_PAGES } as const;
  const client = new Client({ name: "adbind", version: "0.1.0" }, options);
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: answersOnly(tolerant(fetchFor({}))) });
  await client.connect(transport, limits);
  return { client, transport };
}

/** Whether an agent refuses a request for its session. What the protocol's own error says is no word of sessions. */
function endsSession(error: unknown, { transport }: Session, word: string): boolean {
  const { status, body = "" } = wireFaultIn(error) ?? {};
  if (transport.sessionId === undefined) return false;
  const said = parseObject(body);
  return deniesSession(status, said) && extractTransportError(said, word) === null;
}

/** A list of tools that has no end, or none in its time. */
function endless(error: unknown, over: AbortSignal): WireFault | undefined {
  const pages = error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded;
  if (!pages && !over.aborted) return undefined;
  const more = pages ? `has more than ${MAX_PAGES} pages` : "takes too long";
  return new WireFault(`The agent's list of tools ${more}: have it list more at once`, {});
}

/** Whoever lists tools is told what is wrong with the list, not the dump of it. */
function inWords(error: unknown): Error {
  const words = sdkWords(error);
  return error instanceof Error && words === error.message ? error : new Error(words, { cause: error });
}

/** A result is judged by who asked for it, not by the schema that the agent lists. */
const asItCame = {
  "~standard": { version: 1, vendor: "adbind", validate: (value: unknown) => ({ value: value as JsonObject }) },
} as const;

/** The request by which a client asks which revisions there are; agents of the older ones refuse it as they like. */
const isQuestion = (body: RequestInit["body"]): boolean =>
  typeof body === "string" && (JSON.parse(body) as JsonObject).method === "server/discover";

/** Refusals of that question are the SDK's to read: for it they tell that the agent is of the older era. */
function tolerant(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const { status, body } = error instanceof WireFault ? error : { status: undefined, body: "" };
      const told = status !== undefined && status >= 400 && status < 500 && ![401, 403, 429].includes(status);
      if (!told || !isQuestion(init?.body)) throw error;
      return new Response(body, { status, headers: { "content-type": "application/json" } });
    }
  };
}

const LONG_TEXT = `a text of more than ${MAX_TEXT_CHARS} characters is not read, ask for less or have the agent give structuredContent`;

/** A tool result as an answer; one that failed may have data of its own beside the error. */
function readResult(result: JsonObject, word: string): WireAnswer {
  const failed = result.isError === true;
  const { isError: _, ...open } = result;
  const payload = extractMcpResponse(open, word);
  const [text = hasLongText(result) ? LONG_TEXT : undefined] = textItems(result);
  return {
    payload,
    state: failed ? "failed" : undefined,
    error: failed ? extractTransportError(result, word) : null,
    text: text === undefined ? undefined : shortText(text),
    taskId: undefined,
    contextId: undefined,
  };
}
