/** Tells buyers that a licence is taken back. */
import { isPromise } from "../../db/coroutine.js";
import { ToolError } from "../../seller/tool-error.js";
import type { PushNotificationConfig } from "../../sender/types.js";
import type { BehaviourCall } from "../frame/call.js";
import { written } from "../frame/effects.js";
import type { Revocation } from "../ports/brands.js";
import type { Grant } from "./grants.js";

/** Has a revocation of the licence sent to the buyer. @throws ToolError UNSUPPORTED_FEATURE where nothing is sent */
export function followRevocation(call: BehaviourCall, grantId: string, config: PushNotificationConfig): void {
  const { sender } = call.ctx;
  if (sender === undefined)
    throw new ToolError("UNSUPPORTED_FEATURE", "this agent cannot send revocations, and gives no licence without", {
      field: "revocation_webhook",
    });
  call.ctx.effect((tx) => {
    const refuse = (done: Awaited<ReturnType<typeof sender.channels.subscribe>>): void => {
      if (!done.ok) throw new ToolError(done.error.code, done.error.message, { field: "revocation_webhook" });
    };
    const done = sender.channels.subscribe("rights", { resource: grantId, principal: call.principal }, config, { tx });
    return isPromise(done) ? done.then(refuse) : refuse(done);
  });
}

/** Sends the notice, in the transaction that takes the licence back. */
export function tellRevocation(call: BehaviourCall, grant: Grant, { reason, uses, effectiveAt }: Revocation): void {
  const { sender } = call.ctx;
  if (sender === undefined) return;
  const notice = {
    rights_id: grant.grant_id,
    brand_id: grant.brand_id,
    reason,
    effective_at: effectiveAt ?? call.time,
    ...(uses !== undefined && { revoked_uses: uses }),
  };
  call.ctx.effect((tx) =>
    written(sender.channels.notify("rights", grant.grant_id, notice, { tx, principal: call.principal })),
  );
}
