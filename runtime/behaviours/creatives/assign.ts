/** Creatives onto packages of buys that still change. */
import { isDeepStrictEqual } from "node:util";
import { buyOfPackage, buyState, revised, saveBuy, terminalStates } from "../buys/buys.js";
import { tellLater } from "../buys/news.js";
import type { BehaviourCall } from "../frame/call.js";
import { creativeFor } from "../library/creatives.js";

export interface WantedAssignment {
  readonly creative_id: string;
  readonly package_id: string;
  readonly weight?: number;
  readonly placement_ids?: readonly string[];
}

/** What a creative's line says of its assignments. */
export interface Assigned {
  assigned_to?: string[];
  assignment_errors?: Record<string, string>;
}

export interface AssignmentsOf {
  /** Whose creatives and media buys they are. */
  readonly accountId: string;
  /** Where nothing is to be changed: creatives that would be there. */
  readonly rehearsed?: ReadonlySet<string> | undefined;
}

export async function assignAll(
  call: BehaviourCall,
  wanted: readonly WantedAssignment[],
  of: AssignmentsOf,
): Promise<Map<string, Assigned>> {
  const outcome = new Map<string, Assigned>();
  for (const one of wanted) {
    const { creative_id, package_id } = one;
    const own = outcome.get(creative_id) ?? {};
    outcome.set(creative_id, own);
    const reason = await assignOne(call, one, of);
    if (reason === undefined) own.assigned_to = [...(own.assigned_to ?? []), package_id];
    else own.assignment_errors = { ...own.assignment_errors, [package_id]: reason };
  }
  return outcome;
}

/** @returns why it cannot be */
async function assignOne(
  call: BehaviourCall,
  { creative_id, package_id, weight, placement_ids }: WantedAssignment,
  { accountId, rehearsed }: AssignmentsOf,
): Promise<string | undefined> {
  if (rehearsed?.has(creative_id) !== true && (await creativeFor(call, creative_id, accountId)) === undefined)
    return `no creative ${creative_id}`;
  const buy = await buyOfPackage(call, package_id);
  if (buy === undefined || buy.account_id !== accountId) return `no package ${package_id}`;
  const state = await buyState(call, buy);
  if (terminalStates.has(state)) return `its media buy is ${state}`;
  const named = buy.packages.find((one) => one.package_id === package_id);
  if (named?.canceled === true) return "it is canceled";
  if (rehearsed !== undefined) return undefined;
  const there = named?.creative_assignments.find((one) => one.creative_id === creative_id);
  // How it takes turns is not said here, and stays.
  const { weight: _w, placement_ids: _p, ...turn } = there ?? {};
  const assignment = {
    ...turn,
    creative_id,
    ...(weight !== undefined && { weight }),
    ...(placement_ids !== undefined && { placement_ids }),
  };
  // Said again, it changes nothing: who knows the revision still knows the buy.
  if (named?.creative_assignments.some((one) => isDeepStrictEqual(one, assignment)) === true) return undefined;
  const packages = buy.packages.map((one) =>
    one.package_id !== package_id
      ? one
      : {
          ...one,
          creative_assignments: [
            ...one.creative_assignments.filter((other) => other.creative_id !== creative_id),
            assignment,
          ],
        },
  );
  const changed = revised({ ...buy, packages }, call.time, [{ action: "creative_assigned", package_id }]);
  await saveBuy(call, changed);
  tellLater(call, changed);
  return undefined;
}
