/** Guarded outbound HTTP: `adbind/net`. */
export { type AddressKind, addressKind } from "./address.js";
export type { Enough } from "./answer.js";
export { type NetCode, type NetCodeEntry, type NetFailureKind, netCodes, publicReason } from "./codes.js";
export {
  createGuardedFetch,
  type Fetcher,
  type FetchFailure,
  type FetchResponse,
  type FetchResult,
  type GuardedFetch,
  type GuardedFetchOptions,
  type GuardedRequest,
} from "./guarded-fetch.js";
export {
  type Lookup,
  type NameLookup,
  type NameLookupOptions,
  openNameLookup,
  type ResolvedAddress,
} from "./name-lookup.js";
export {
  type DialOptions,
  defaultTimeouts,
  discoveryTimeouts,
  type NetPolicyOptions,
  type Timeouts,
} from "./policy.js";
export { type RedirectPolicy, wellKnownRedirects } from "./redirect.js";
export { LONGEST_RETRY_AFTER_MS, retryAfterMs } from "./retry-after.js";
export { registrableDomain } from "./target.js";
