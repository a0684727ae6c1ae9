/** The payload of a webhook body, by the shape it was registered for or, failing that, the one it has. */
import type { TransportName } from "../contract/index.js";
import { extractA2aResponse, unwrapA2a } from "./a2a.js";
import { member } from "./json-object.js";

/** The shape of the transport that a registration came by. */
export type WebhookFormat = TransportName;

/** The shape of a body: `status` as text beside `task_id`, or as an object with a `state`; null when it has neither. */
export function detectFormat(body: unknown): WebhookFormat | null {
  const { event } = unwrapA2a(body);
  const status = member(event, "status");
  if (member(status, "state")) return "a2a";
  return typeof status === "string" && member(event, "task_id") ? "mcp" : null;
}

/** What a webhook carries, and in which shape it came. */
export interface WebhookExtraction {
  readonly format: WebhookFormat | null;
  /** As it came; null where the body has none. */
  readonly data: unknown;
  readonly problem?: "wrapper_detected";
}

/**
 * Data of a webhook (docs/protocol/transports.md#webhook-extraction).
 * @param format the shape the registration calls for; detected when left out
 */
export function extractWebhook(body: unknown, format: WebhookFormat | null = detectFormat(body)): WebhookExtraction {
  if (format === "mcp") return { format, data: member(body, "result") ?? null };
  if (format === null) return { format, data: null };
  const { data, problem } = extractA2aResponse(body);
  return { format, data, ...(problem && { problem }) };
}
