/** `adbind/seller`: answers tools over MCP and A2A. */
export { type JwtAuthOptions, jwtAuth, signatureAuth, type TokenAuthOptions, tokenAuth } from "./auth.js";
export type { Call, Called } from "./call.js";
export { createSeller, type Seller } from "./create.js";
export { ToolError } from "./tool-error.js";
export type * from "./types.js";
