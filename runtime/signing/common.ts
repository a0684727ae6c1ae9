/** What both entries offer besides the functions over their backend. */
export {
  type BrandAuthorization,
  type BrandClaim,
  type BrandDistrust,
  brandAuthorization,
} from "./brand-authorization.js";
export {
  challengeOf,
  otherCodes,
  type RequestCode,
  requestCodes,
  type Step,
  type VerificationCode,
  verificationCodes,
  type WebhookCode,
  webhookCodes,
} from "./codes.js";
export { isJsonContentType } from "./headers.js";
export { keyPurposeFault, type StaticKeysOptions, staticKeys, verificationKey } from "./keys.js";
export {
  type BearerVerifyOptions,
  checkSecret,
  type HmacSignOptions,
  type HmacVerifyOptions,
  type LegacyOptions,
  type LegacyResult,
  type LegacyVerified,
} from "./legacy.js";
export { type Binding, type Invocation, type Resolution, resolveBody, resolveOperation } from "./operation.js";
export { capabilityFault, type RequestCapability } from "./policy.js";
export type { RequestRules } from "./profiles.js";
export type { VerifyOptions } from "./proof.js";
export { type MemoryReplayOptions, type MemoryReplayStore, memoryReplayStore } from "./replay.js";
export type { RemoteKey, SignOptions, SignRequestOptions } from "./sign.js";
export { receivedMode, type Signing, type VerifyRequestOptions, type VerifyWebhookOptions } from "./signing.js";
export { type StandardSignOptions, type StandardVerifyOptions, standardKey } from "./standard-webhooks.js";
export type * from "./types.js";
export { refusal } from "./verify.js";
