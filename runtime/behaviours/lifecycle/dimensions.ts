/** What a refinement may ask for in terms that a machine checks (`media_buy.proposal_refinement`). */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import type { Constraints } from "./constraints.js";
import { type Criteria, refuseResults } from "./list-products.js";

export interface ProposalRefinement {
  readonly proposal_id: string;
  readonly action: "revise" | "finalize";
  readonly change_kind?: "amendment" | "cancellation";
  readonly ask?: string;
  readonly constraints?: Constraints;
  readonly product_changes?: Readonly<Record<string, "include" | "omit">>;
  readonly alternatives?: { readonly count: number };
  readonly criteria?: Criteria;
  readonly remove_media_buy_frequency_cap?: boolean;
}

/** Drafts of one refinement, at most: each is kept for two weeks. */
const MAX_ALTERNATIVES = 5;

/** Each is read and checked; whether it is granted is another matter. */
export const refinementCapability: JsonObject = {
  supported_dimensions: [
    ...["total_budget", "cpm", "impressions", "flight"],
    ...["product_changes", "alternatives", "criteria"],
  ],
  max_alternatives: MAX_ALTERNATIVES,
};

/** @throws ToolError UNSUPPORTED_FEATURE for a result to plan to, VALIDATION_ERROR for more alternatives than there can be, INVALID_REQUEST for a proposal named twice */
export function checkRefinements(call: BehaviourCall, refinements: readonly ProposalRefinement[]): void {
  const ids = refinements.map(({ proposal_id }) => proposal_id);
  for (const [index, { alternatives, proposal_id, criteria = {} }] of refinements.entries()) {
    refuseResults(criteria, `refinements[${index}].criteria`);
    if (ids.indexOf(proposal_id) !== index)
      throw new ToolError("INVALID_REQUEST", `proposal ${proposal_id} is named twice`, {
        field: `refinements[${index}].proposal_id`,
      });
    if ((alternatives?.count ?? 0) <= MAX_ALTERNATIVES) continue;
    const field = `refinements[${index}].alternatives.count`;
    throw invalid(call, `at most ${MAX_ALTERNATIVES} alternatives are drafted of one proposal`, field);
  }
}
