/** What a response or a webhook body says: data, status and errors of MCP and A2A, whoever asks. */
export { type A2aExtraction, type A2aState, a2aState, extractA2aResponse, unwrapA2a } from "./a2a.js";
export { extractMcpResponse } from "./mcp.js";
export { type RetryDecision, type RetryState, retryDecision } from "./retry.js";
export {
  type ErrorAction,
  errorAction,
  extractTransportError,
  retryAfterSeconds,
  type TransportError,
} from "./transport-error.js";
export { detectFormat, extractWebhook, type WebhookExtraction, type WebhookFormat } from "./webhook.js";
