/** A task's webhook as one envelope, whichever shape it came in. */
import { a2aState, unwrapA2a } from "../extract/a2a.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { detectFormat, extractWebhook } from "../extract/webhook.js";

/** What is read of it; `status` may be no task's. */
interface ToldEnvelope {
  readonly status?: unknown;
  readonly operation_id?: unknown;
}

/** Whoever has to log in somewhere is asked something. */
const asked = (status: unknown): unknown => (status === "auth-required" ? "input-required" : status);

/** @returns the body itself, but of A2A's; undefined where it is none of a task */
export function toldEnvelope(body: unknown): ToldEnvelope | undefined {
  if (!isJsonObject(body)) return undefined;
  if (detectFormat(body) !== "a2a") return { ...body, status: asked(body.status) };
  const { event } = unwrapA2a(body);
  const contextId = member(event, "contextId");
  return {
    ...{ status: asked(a2aState(event)), result: extractWebhook(body, "a2a").data ?? {} },
    operation_id: member(event, "operation_id") ?? member(member(event, "metadata"), "operation_id"),
    ...(typeof contextId === "string" && { context_id: contextId }),
  } as ToldEnvelope;
}
