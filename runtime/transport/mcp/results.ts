/** Calls of tools as MCP carries them, and what it gives back for them. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { CallAnswer } from "../answerer.js";

export interface CalledTool {
  readonly id: unknown;
  readonly tool: string;
  readonly args: unknown;
}

export const rpcMessages = (body: unknown): readonly unknown[] => (Array.isArray(body) ? body : [body]);

/** The tools a body calls, as sent. */
export function callsOf(body: unknown): readonly CalledTool[] {
  return rpcMessages(body).flatMap((message) => {
    if (!isJsonObject(message) || message.method !== "tools/call" || !isJsonObject(message.params)) return [];
    const { name, arguments: args } = message.params;
    return [{ id: message.id, tool: typeof name === "string" ? name : "", args }];
  });
}

/** docs/protocol/transports.md#mcp: the flat object as structured content, and as text for clients that read only that. */
export const toolResult = ({ payload, failed }: CallAnswer): JsonObject => ({
  content: [{ type: "text", text: JSON.stringify(payload) }],
  structuredContent: payload,
  ...(failed && { isError: true }),
});
