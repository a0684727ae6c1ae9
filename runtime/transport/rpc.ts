/** JSON-RPC 2.0, as far as both transports share it. */
import type { JsonObject } from "../contract/index.js";

/** Codes of what never reaches a method. */
export const rpcCodes = { parse: -32700, invalid: -32600, refused: -32000 } as const;

/** @param id the request's, where it has one that may be given back */
export const rpcErrorBody = (code: number, message: string, id: unknown = null, data?: object): JsonObject => ({
  jsonrpc: "2.0",
  id: typeof id === "string" || typeof id === "number" ? id : null,
  error: { code, message, ...(data !== undefined && { data }) },
});
