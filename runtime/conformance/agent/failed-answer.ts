/** An answer that came as an error: JSON-RPC's, HTTP's, or none at all. */
import { isJsonObject } from "../../contract/index.js";
import { sdkWords } from "../../transport/mcp/sdk-words.js";
import type { AgentAnswer, SentRequest } from "./types.js";

/** What went wrong, and what that came of: SDKs tell the status of HTTP beside their words, and some quote the cause. */
export function faultWords(error: unknown): string {
  const words = sdkWords(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  const { code } = (error ?? {}) as { code?: unknown };
  const status = typeof code === "number" && code >= 300 && code < 600 ? `HTTP ${code}, ` : "";
  return `${status}${words}${cause === "" || words.includes(cause) ? "" : `: ${cause}`}`;
}

export function failedAnswer(
  request: SentRequest,
  error: { code?: number; message: string; data?: unknown },
  seen: { status?: number; headers: Readonly<Record<string, string>> },
  times: { sentAt: number; tookMs: number },
): AgentAnswer {
  const payload = isJsonObject(error.data) ? error.data : null;
  return { request, payload, origin: "error", failed: true, error, ...seen, body: { error }, ...times };
}
