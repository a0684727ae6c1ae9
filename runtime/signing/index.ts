/**
 * Signing for node: the RFC 9421 profile of webhooks and requests, and the legacy schemes (docs/protocol/signing.md).
 * Documentation of each function stands on `Signing`.
 */
import { nodeCrypto, nodeCryptoAside } from "./node-crypto.js";
import { createSigning } from "./signing.js";

export * from "./common.js";

export const { signWebhook, signRequest } = createSigning(nodeCryptoAside);

export const {
  signWebhookSync,
  verifyWebhook,
  verifyWebhookSync,
  signRequestSync,
  verifyRequest,
  verifyRequestSync,
  signHmac,
  verifyHmac,
  verifyBearer,
  signStandardWebhook,
  verifyStandardWebhook,
} = createSigning(nodeCrypto);
