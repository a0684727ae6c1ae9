/** `adbind/seller`: answers tools over MCP and A2A. */

export type { Call, CallAnswer } from "../transport/answerer.js";
export {
  type AccountChange,
  type AccountChangeOptions,
  type AccountChanges,
  createAccountChanges,
} from "./account-changes.js";
export { type JwtAuthOptions, jwtAuth, openAuth, signatureAuth, type TokenAuthOptions, tokenAuth } from "./auth.js";
export { createSeller, type Seller } from "./create.js";
export type { MountedSeller } from "./mount.js";
export { createPrincipals, type PrincipalOptions, type Principals, type PrincipalTools } from "./principals.js";
export { createTenants, type Tenant, type TenantSeller, type Tenants, type TenantsOptions } from "./tenants.js";
export { ToolError } from "./tool-error.js";
export type * from "./types.js";
