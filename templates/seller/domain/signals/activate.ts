/** Activations: a signal that is live on a platform or at a sales agent, for one account. */
import { createHash } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { ownerOf, spendingAccount } from "../accounts/accounts.js";
import { requireApproval } from "../governance/authority.js";
import type { Signal, SignalPricing } from "./catalog.js";

export type Destination = Request<"activate_signal">["destinations"][number];

export interface Activation {
  readonly segmentId: string;
  readonly destination: Destination;
  readonly pricingOptionId: string | undefined;
  readonly deployedAt: string;
}

const KIND = "activation";

const placeOf = (destination: Destination): string =>
  destination.type === "platform"
    ? JSON.stringify(["platform", destination.platform, destination.account ?? ""])
    : JSON.stringify(["agent", destination.agent_url, destination.account ?? ""]);

const idOf = (segmentId: string, destination: Destination): string => `${segmentId} ${placeOf(destination)}`;

export const activationsOf = (call: Call, owner: string, segmentId: string): Activation[] =>
  call.documents.list<Activation>(KIND, owner).filter((one) => one.segmentId === segmentId);

/** What a buyer targets with: platforms have segment ids of their own, agents take a key and a value. */
function activationKey(segmentId: string, destination: Destination): JsonObject {
  if (destination.type === "agent") return { type: "key_value", key: "audience_segment", value: segmentId };
  const digest = createHash("sha256").update(idOf(segmentId, destination)).digest("hex");
  return { type: "segment_id", segment_id: `${destination.platform}_${digest.slice(0, 12)}` };
}

/** Where a signal stands at a destination. */
export function deploymentOf(destination: Destination, active: readonly Activation[]): JsonObject {
  const place = placeOf(destination);
  const found = active.find((one) => placeOf(one.destination) === place);
  return {
    ...(destination.type === "platform"
      ? { type: "platform", platform: destination.platform }
      : { type: "agent", agent_url: destination.agent_url }),
    ...(destination.account !== undefined && { account: destination.account }),
    is_live: found !== undefined,
    ...(found === undefined
      ? { estimated_activation_duration_minutes: 60 }
      : { activation_key: activationKey(found.segmentId, destination), deployed_at: found.deployedAt }),
  };
}

function signalOf(call: Call, segmentId: string): Signal {
  const signal = call.documents.get<Signal>("signal", "", segmentId);
  if (signal !== undefined) return signal;
  throw new ToolError("SIGNAL_NOT_FOUND", "there is no such signal; get_signals lists them", {
    field: "signal_agent_segment_id",
  });
}

function pricingOf(signal: Signal, pricingOptionId: string | undefined): SignalPricing | undefined {
  if (pricingOptionId === undefined) return undefined;
  const found = signal.pricing.find(({ pricing_option_id: id }) => id === pricingOptionId);
  if (found !== undefined) return found;
  throw new ToolError("INVALID_REQUEST", `${pricingOptionId} is no pricing option of ${signal.segmentId}`, {
    field: "pricing_option_id",
  });
}

/** `activate_signal`: brings a signal to the destinations, or takes it away; both may be repeated. */
export function activateSignal(call: Call, request: Request<"activate_signal">): JsonObject {
  const signal = signalOf(call, request.signal_agent_segment_id);
  const price = pricingOf(signal, request.pricing_option_id);
  const account = request.account === undefined ? undefined : spendingAccount(call, request.account);
  const owner = account === undefined ? call.principal : ownerOf(call, account);
  const activating = request.action !== "deactivate";
  if (activating && account !== undefined) {
    // What a price per impression will come to is not known yet.
    const amount = price?.model === "flat_fee" ? price.amount : undefined;
    requireApproval(call, account, { tool: "activate_signal", request, amount });
  }
  for (const destination of request.destinations) {
    const id = idOf(signal.segmentId, destination);
    if (!activating) call.documents.remove(KIND, owner, id);
    else if (call.documents.get(KIND, owner, id) === undefined) {
      const activation: Activation = {
        segmentId: signal.segmentId,
        destination,
        pricingOptionId: request.pricing_option_id,
        deployedAt: call.now.toISOString(),
      };
      call.documents.put(KIND, owner, id, activation);
    }
  }
  const active = activationsOf(call, owner, signal.segmentId);
  return { deployments: request.destinations.map((destination) => deploymentOf(destination, active)) };
}
