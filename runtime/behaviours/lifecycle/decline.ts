import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { endProposal, findEnd } from "../products/proposal-ends.js";
import { checkOpportunity, findNegotiable, type Opportunity, saveNegotiated } from "../products/terms.js";

interface Wanted {
  readonly declines: readonly { readonly proposal_id: string; readonly reason: string; readonly detail?: string }[];
  readonly opportunity?: Opportunity;
}

/** `decline_proposals`: nothing follows from a declined proposal; what it held is free again. */
export const declineProposals: ToolBehaviour = async (request: Wanted, call) => {
  // All of them are looked at before one is declined.
  for (const { proposal_id } of request.declines) {
    const found = await findNegotiable(call, proposal_id);
    if (found !== undefined) checkOpportunity(found, request.opportunity);
  }
  const twice = request.declines.findIndex(
    ({ proposal_id: id }, at, all) => all.findIndex((one) => one.proposal_id === id) < at,
  );
  if (twice >= 0)
    throw new ToolError("INVALID_REQUEST", "this proposal is declined twice: say it once", {
      field: `declines[${twice}].proposal_id`,
    });
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
