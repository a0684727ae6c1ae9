/** Activations: a signal that is live on a platform or at a sales agent, for one account. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, accountOwner, spendingAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner, ownerText } from "../frame/collection.js";
import { isLate } from "../frame/patience.js";
import { requireUngoverned, requireWord } from "../governance/word.js";
import type { Signal, SignalPlace, SignalPricing } from "../ports/signals.js";

export type SignalDestination = { readonly account?: string } & (
  | { readonly type: "platform"; readonly platform: string }
  | { readonly type: "agent"; readonly agent_url: string }
);

interface Wanted {
  readonly account?: AccountRef;
  readonly action?: string;
  readonly signal_agent_segment_id: string;
  readonly destinations: readonly SignalDestination[];
  readonly pricing_option_id?: string;
  /** The word of the account's governance agent on this activation. */
  readonly governance_context?: string;
}

export interface Activation {
  readonly segmentId: string;
  readonly destination: SignalDestination;
  readonly pricingOptionId: string | undefined;
  readonly deployedAt: string;
}

const kept = collection<Activation>("activation");

/** How often a signal was taken away from a place: what is brought there after that is brought anew. */
const takings = collection<{ readonly times: number }>("activation_taken");

const placeOf = (destination: SignalDestination): string =>
  destination.type === "platform"
    ? JSON.stringify(["platform", destination.platform, destination.account ?? ""])
    : JSON.stringify(["agent", destination.agent_url, destination.account ?? ""]);

const idOf = (segmentId: string, destination: SignalDestination): string => `${segmentId} ${placeOf(destination)}`;

export const activationsOf = async (
  call: BehaviourCall,
  owner: DocumentOwner,
  segmentId: string,
): Promise<Activation[]> => (await kept.list(call, owner)).filter((one) => one.segmentId === segmentId);

/** What a buyer targets with: platforms have segment ids of their own, agents take a key and a value. */
function activationKey(segmentId: string, destination: SignalDestination): JsonObject {
  if (destination.type === "agent") return { type: "key_value", key: "audience_segment", value: segmentId };
  const digest = createHash("sha256").update(idOf(segmentId, destination)).digest("hex");
  return { type: "segment_id", segment_id: `${destination.platform}_${digest.slice(0, 12)}` };
}

/** Where a signal stands at a destination. */
export function deploymentOf(destination: SignalDestination, active: readonly Activation[]): JsonObject {
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

/** The signals the agent offers; one that a test has put there too. */
export const offeredSignals = (call: BehaviourCall): Promise<readonly Signal[]> =>
  call.once("signals", () => call.ports.signals.signals({ principal: call.principal }));

async function signalOf(call: BehaviourCall, id: string): Promise<Signal> {
  const signal = (await offeredSignals(call)).find(({ segmentId }) => segmentId === id);
  if (signal !== undefined) return signal;
  const code = call.shapes.knowsError("REFERENCE_NOT_FOUND") ? "REFERENCE_NOT_FOUND" : "SIGNAL_NOT_FOUND";
  throw new ToolError(code, "there is no such signal; get_signals lists them", {
    field: "signal_agent_segment_id",
  });
}

const portPlace = (destination: SignalDestination): SignalPlace => ({
  type: destination.type,
  at: destination.type === "platform" ? destination.platform : destination.agent_url,
  ...(destination.account !== undefined && { account: destination.account }),
});

/**
 * The price that a signal is brought at: the one that is named, or its only one.
 * @throws ToolError INVALID_REQUEST where it has several, since nobody has agreed to any of them
 */
function pricingOf(
  signal: Signal,
  { pricing_option_id: pricingOptionId, action }: Pick<Wanted, "pricing_option_id" | "action">,
): SignalPricing | undefined {
  if (pricingOptionId === undefined) {
    if (signal.pricing.length < 2 || action === "deactivate") return signal.pricing[0];
    const offered = signal.pricing.map(({ pricing_option_id: id }) => id).join(", ");
    throw new ToolError("INVALID_REQUEST", `${signal.segmentId} has several prices: name one of ${offered}`, {
      field: "pricing_option_id",
    });
  }
  const found = signal.pricing.find(({ pricing_option_id: id }) => id === pricingOptionId);
  if (found !== undefined) return found;
  throw new ToolError("INVALID_REQUEST", `${pricingOptionId} is no pricing option of ${signal.segmentId}`, {
    field: "pricing_option_id",
  });
}

/** What is committed with the activation; undefined where it follows from use. */
const committed = (pricing: SignalPricing | undefined): number | undefined =>
  pricing?.model === "flat_fee" ? pricing.amount : undefined;

interface Bringing {
  readonly signal: Signal;
  readonly owner: DocumentOwner;
  readonly request: Wanted;
  readonly pricing: SignalPricing | undefined;
}

/** To one destination, or away from it. */
async function bring(
  call: BehaviourCall,
  { signal, owner, request, pricing }: Bringing,
  destination: SignalDestination,
): Promise<void> {
  const { signals } = call.ports;
  const id = idOf(signal.segmentId, destination);
  const { times } = (await takings.get(call, owner, id)) ?? { times: 0 };
  const idempotencyKey = createHash("sha256")
    .update(JSON.stringify([ownerText(owner), id, times]))
    .digest("hex");
  const place = portPlace(destination);
  if (request.action === "deactivate") {
    await signals.deactivate?.(signal, place, { idempotencyKey: `${idempotencyKey}-off` });
    kept.remove(call, owner, id);
    takings.put(call, owner, id, { times: times + 1 });
  } else if ((await kept.get(call, owner, id)) === undefined) {
    await signals.activate?.(signal, place, { idempotencyKey });
    const pricingOptionId = pricing?.pricing_option_id;
    kept.put(call, owner, id, { segmentId: signal.segmentId, destination, pricingOptionId, deployedAt: call.time });
  }
}

/** `activate_signal`: brings a signal to the destinations, or takes it away; both may be repeated. */
export const activateSignal: ToolBehaviour = async (request: Wanted, call) => {
  const signal = await signalOf(call, request.signal_agent_segment_id);
  const pricing = pricingOf(signal, request);
  const account = request.account === undefined ? undefined : await spendingAccount(call, request.account);
  const owner = account === undefined ? call.principal : accountOwner(call, account);
  let giveBack = async (): Promise<void> => undefined;
  let brought = false;
  if (account === undefined && request.action !== "deactivate") await requireUngoverned(call);
  if (account !== undefined && request.action !== "deactivate")
    giveBack = await requireWord(call, account, {
      tool: call.tool,
      // Each account pays for its own.
      what: JSON.stringify([account.account_id, signal.segmentId]),
      request,
      amount: committed(pricing),
      currency: pricing?.currency,
    });
  try {
    for (const destination of request.destinations) {
      await bring(call, { signal, owner, request, pricing }, destination);
      brought = true;
    }
  } catch (error) {
    // What one platform has is paid, whatever another says; and so is what may be there.
    if (!brought && !isLate(error)) await giveBack();
    throw error;
  }
  const active = await activationsOf(call, owner, signal.segmentId);
  return call.answer({ deployments: request.destinations.map((destination) => deploymentOf(destination, active)) });
};
