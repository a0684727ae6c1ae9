/** Tools over MCP's streamable HTTP, by the official SDK: without a session where the agent knows how, else with one. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../contract/index.js";
import { extractMcpResponse, extractTransportError } from "../../extract/index.js";
import { textItems } from "../../extract/mcp.js";
import type { CallerDependencies, Connection, WireAnswer } from "../caller.js";
import { shortText, WireFault } from "../fault.js";
import { sdkWords } from "./sdk-words.js";

/** Pages of `tools/list` read at most: an agent that never ends its list must not hold the caller. */
const MAX_PAGES = 50;

/** Opens a connection, in the newest revision both sides have. @throws WireFault, or an error with the `code` and `data` of JSON-RPC */
export async function openMcp(
  { url, word, timeoutMs, fetchFor }: CallerDependencies,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const options = { capabilities: {}, versionNegotiation: { mode: "auto" } } as const;
  const client = new Client({ name: "adbind", version: "0.1.0" }, options);
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: tolerant(fetchFor({})) });
  const limits = (given: AbortSignal | undefined) => ({
    timeout: timeoutMs,
    ...(given !== undefined && { signal: given }),
  });
  await client.connect(transport, limits(signal));
  return {
    transport: "mcp",
    async call({ tool, args, push, signal: given }) {
      const params = { name: tool, arguments: push === undefined ? args : { ...args, push_notification_config: push } };
      const result = await client.request({ method: "tools/call", params }, asItCame, limits(given));
      return readResult(result as JsonObject, word);
    },
    async tools(given) {
      const names: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const listed = await client
          .listTools(cursor === undefined ? undefined : { cursor }, limits(given))
          .catch(inWords);
        names.push(...listed.tools.map(({ name }) => name));
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      return names;
    },
    close: () => client.close(),
  };
}

/** Whoever lists tools is told what is wrong with the list, not the dump of it. */
function inWords(error: unknown): never {
  const words = sdkWords(error);
  throw error instanceof Error && words === error.message ? error : new Error(words, { cause: error });
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

/** A tool result as an answer; one that failed may have data of its own beside the error. */
function readResult(result: JsonObject, word: string): WireAnswer {
  const failed = result.isError === true;
  const { isError: _, ...open } = result;
  const payload = extractMcpResponse(open, word);
  const [text] = textItems(result);
  return {
    payload,
    state: failed ? "failed" : undefined,
    error: failed ? extractTransportError(result, word) : null,
    text: text === undefined ? undefined : shortText(text),
    taskId: undefined,
    contextId: undefined,
  };
}
