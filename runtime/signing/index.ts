/**
 * Signing for node: the RFC 9421 profile of webhooks and requests, and the legacy schemes (docs/protocol/signing.md).
 * Documentation of each function stands on `Signing`.
 */
import { nodeCrypto } from "./node-crypto.js";
import { createSigning } from "./signing.js";

export * from "./common.js";

export const {
  signWebhook,
  signWebhookSync,
  verifyWebhook,
  verifyWebhookSync,
  signRequest,
  signRequestSync,
  verifyRequest,
  verifyRequestSync,
  signHmac,
  verifyHmac,
  verifyBearer,
  signStandardWebhook,
  verifyStandardWebhook,
} = createSigning(nodeCrypto);
