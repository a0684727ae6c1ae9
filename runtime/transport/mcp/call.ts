/** Tools over MCP's streamable HTTP, by the official SDK. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../contract/index.js";
import { extractMcpResponse, extractTransportError } from "../../extract/index.js";
import { textItems } from "../../extract/mcp.js";
import type { CallerDependencies, Connection, WireAnswer } from "../caller.js";
import { shortText } from "../fault.js";

/** Pages of `tools/list` read at most: an agent that never ends its list must not hold the caller. */
const MAX_PAGES = 50;

/** Opens a session. @throws WireFault, McpError */
export async function openMcp(
  { url, word, timeoutMs, fetchFor }: CallerDependencies,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const client = new Client({ name: "adbind", version: "0.1.0" }, { capabilities: {} });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: fetchFor({}) });
  const limits = (given: AbortSignal | undefined) => ({
    timeout: timeoutMs,
    ...(given !== undefined && { signal: given }),
  });
  await client.connect(transport as Transport, limits(signal));
  return {
    transport: "mcp",
    async call({ tool, args, push, signal: given }) {
      const params = { name: tool, arguments: push === undefined ? args : { ...args, push_notification_config: push } };
      const result = await client.request({ method: "tools/call", params }, ResultSchema, limits(given));
      return readResult(result as JsonObject, word);
    },
    async tools(given) {
      const names: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const listed = await client.listTools(cursor === undefined ? undefined : { cursor }, limits(given));
        names.push(...listed.tools.map(({ name }) => name));
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      return names;
    },
    close: () => client.close(),
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
