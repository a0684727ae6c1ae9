/**
 * Signing for browsers, workers and every other runtime with WebCrypto: the same checklist, nothing of node in its graph.
 * Documentation of each function stands on `Signing`.
 */
import { createSigning } from "./signing.js";
import { webCrypto } from "./web-crypto.js";

export * from "./common.js";

export const { signWebhook, verifyWebhook, signRequest, verifyRequest, signHmac, verifyHmac, verifyBearer } =
  createSigning(webCrypto);
