import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { endProposal, findEnd } from "../products/proposal-ends.js";
import { findNegotiable, saveNegotiated } from "../products/terms.js";

interface Wanted {
  readonly declines: readonly { readonly proposal_id: string; readonly reason: string; readonly detail?: string }[];
}

/** `decline_proposals`: nothing follows from a declined proposal; what it held is free again. */
export const declineProposals: ToolBehaviour = async (request: Wanted, call) => {
  const results: JsonObject[] = [];
  for (const { proposal_id } of request.declines) {
    const found = await findNegotiable(call, proposal_id);
    if (found === undefined) {
      results.push({ proposal_id, outcome: "unable", reason: "There is no such proposal." });
      continue;
    }
    const end = await findEnd(call, proposal_id);
    if (end?.how === "accepted" || found.state === "accepted") {
      results.push({
        proposal_id,
        outcome: "unable",
        reason: "It was accepted: the media buy can be canceled instead.",
      });
      continue;
    }
    if (end === undefined) {
      await endProposal(call, { proposal_id, how: "declined" }, "declines");
      saveNegotiated(call, { ...found, state: "declined" });
    }
    results.push({ proposal_id, outcome: "declined" });
  }
  return call.answer({ results });
};
