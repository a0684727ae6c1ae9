/** Which plan a check is about, and whether it comes from whom the agent's words were given to. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { findPlan, type KeptPlan, planOf } from "./plans.js";
import { planOfToken } from "./token.js";

/** What a check says of where it comes from and goes to. */
export interface CheckAddress {
  readonly plan_id?: string;
  readonly caller: string;
  /** Who will be shown the approval, where the release has it named. */
  readonly target_agent?: string;
  readonly tool?: string;
  readonly governance_context?: string;
  readonly consultation_context?: string;
  /** Who has it runs the action. */
  readonly planned_delivery?: object;
}

/**
 * The plan of an action: the one its token was issued under, else the one it names.
 * @throws ToolError PLAN_NOT_FOUND; INVALID_REQUEST for a token of another plan; PERMISSION_DENIED for one of another agent's
 */
export async function planFor(call: BehaviourCall, request: CheckAddress): Promise<KeptPlan> {
  const { plan_id: named, governance_context: token } = request;
  const of = token === undefined ? undefined : await planOfToken(call, token);
  const kept = of === undefined ? undefined : await findPlan(call, of.owner, of.plan_id);
  if (of !== undefined && named !== undefined && named !== of.plan_id)
    throw new ToolError("INVALID_REQUEST", "the token is of another plan", { field: "plan_id" });
  if (of?.aud !== undefined && request.planned_delivery !== undefined && of.aud !== request.caller)
    throw new ToolError("PERMISSION_DENIED", "the approval was given for another agent", { field: "caller" });
  if (kept !== undefined) return kept;
  if (named !== undefined) return planOf(call, named);
  if (token === undefined) throw new ToolError("INVALID_REQUEST", "a first check names its plan", { field: "plan_id" });
  const message = "no check of this agent's has this token";
  throw new ToolError("PLAN_NOT_FOUND", message, { field: "governance_context" });
}

/** An intent that was answered with conditions: what may not change while they are met. */
interface Consulted {
  readonly plan_id: string;
  readonly caller: string;
  readonly purchase: string;
  readonly tool?: string;
  readonly target_agent?: string;
}

/** By their handles, of who asked. */
const consultations = collection<Consulted>("governance_consultation");

interface Consulting {
  readonly kept: KeptPlan;
  /** Type of the purchase. */
  readonly purchase: string;
}

const consultedOn = ({ caller, tool, target_agent }: CheckAddress, { kept, purchase }: Consulting): Consulted => ({
  ...{ plan_id: kept.plan.plan_id, caller, purchase },
  ...(tool !== undefined && { tool }),
  ...(target_agent !== undefined && { target_agent }),
});

/** The handle under which the conditions of an intent are met: the same as long as it is about the same. */
export function consult(call: BehaviourCall, request: CheckAddress, on: Consulting): string {
  const handle = request.consultation_context ?? call.id("con");
  consultations.put(call, call.principal, handle, consultedOn(request, on));
  return handle;
}

/** @throws ToolError REFERENCE_NOT_FOUND for conditions that are not the caller's, or were of another intent */
export async function checkConsultation(call: BehaviourCall, request: CheckAddress, on: Consulting): Promise<void> {
  const { consultation_context: id } = request;
  if (id === undefined) return;
  const [before, own] = [await consultations.get(call, call.principal, id), consultedOn(request, on)];
  const fields = ["plan_id", "caller", "purchase", "tool", "target_agent"] as const;
  if (before !== undefined && fields.every((field) => before[field] === own[field])) return;
  const message = "no conditions of yours on this intent have this handle";
  throw new ToolError("REFERENCE_NOT_FOUND", message, { field: "consultation_context" });
}
