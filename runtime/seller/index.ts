/** `adbind/seller`: answers tools over MCP and A2A. */
export type * from "./types.js";
