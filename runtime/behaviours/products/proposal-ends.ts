/**
 * How a proposal has ended: it was bought, or declined; either once. Who ends it writes so before anybody outside is told, so
 * that of two who are at it one finds the other's word.
 */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";

export interface ProposalEnd {
  readonly proposal_id: string;
  readonly how: "accepted" | "declined";
  /** Of one that is bought: what it became, or becomes as soon as it is signed and booked. */
  readonly media_buy_id?: string;
}

/** Where ends stand; see `instruct`, which writes them before the ad server is told. */
export const ENDS = "proposal_end";
const ends = collection<ProposalEnd>(ENDS);

export const findEnd = (call: BehaviourCall, id: string): Promise<ProposalEnd | undefined> =>
  ends.get(call, call.principal, id);

/** Those of the caller's, by proposal. */
export const endsOf = (call: BehaviourCall): Promise<ReadonlyMap<string, ProposalEnd>> =>
  call.once("proposal ends", async () => {
    const all = await ends.list(call, call.principal);
    return new Map(all.map((one) => [one.proposal_id, one]));
  });

/** @throws ToolError INVALID_STATE for one that has ended */
export async function checkOpen(call: BehaviourCall, id: string, field: string): Promise<void> {
  const end = await findEnd(call, id);
  if (end === undefined) return;
  const was = end.how === "accepted" ? "accepted before" : "declined";
  throw new ToolError("INVALID_STATE", `proposal ${id} was ${was}`, { field, details: { current_state: end.how } });
}

/** @throws ToolError INVALID_STATE where it has ended already */
export async function endProposal(call: BehaviourCall, end: ProposalEnd, field: string): Promise<void> {
  await checkOpen(call, end.proposal_id, field);
  ends.put(call, call.principal, end.proposal_id, end);
}

/** What was to come of it did not: it can be bought again, or declined. */
export async function reopenProposal(call: BehaviourCall, id: string, mediaBuyId: string): Promise<void> {
  const end = await findEnd(call, id);
  if (end?.media_buy_id === mediaBuyId) ends.remove(call, call.principal, id);
}
