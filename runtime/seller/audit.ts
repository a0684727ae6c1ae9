/** What an audit keeps of a call. */
import { isJsonObject } from "../contract/index.js";
import type { Call, CallAnswer } from "../transport/answerer.js";
import type { SellerSettings } from "./settings.js";
import type { AuditEntry } from "./types.js";

/** An audit that fails is the operator's to see; the caller has its answer all the same. */
export async function audited(
  { audit, logger, now }: Pick<SellerSettings<never>, "audit" | "logger" | "now">,
  { identity: { principal }, transport, args }: Call,
  { status, payload, taskId }: CallAnswer,
  { code, ...seen }: Pick<AuditEntry, "tool" | "mutating" | "ms"> & { readonly code: string | undefined },
): Promise<void> {
  if (audit === undefined) return;
  const key = isJsonObject(args) && typeof args.idempotency_key === "string" ? args.idempotency_key : undefined;
  const entry: AuditEntry = {
    ...{ at: now(), principal, transport, status, taskId, ...seen },
    replayed: payload.replayed === true,
    ...(code !== undefined && { code }),
    ...(key !== undefined && { idempotencyKey: key }),
  };
  try {
    await audit(entry);
  } catch (error) {
    logger?.error({ err: error, taskId }, "a call could not be audited");
  }
}
