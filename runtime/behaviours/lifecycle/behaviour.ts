import type { Behaviour } from "../frame/behaviour.js";
import { updateMediaBuy } from "../media-buys/update.js";
import { acceptProposal, buyProducts } from "./buy.js";
import { declineProposals } from "./decline.js";
import { refinementCapability } from "./dimensions.js";
import { listProducts } from "./list-products.js";
import { refineProposals } from "./refine.js";
import { requestProposals } from "./request.js";
import { lifecycleScenarios } from "./scenarios.js";

/** A tool for each step from a published offer to an order under way, in place of one that does many. */
const tools = {
  list_products: listProducts,
  request_proposals: requestProposals,
  refine_proposals: refineProposals,
  decline_proposals: declineProposals,
  buy_products: buyProducts,
  accept_proposal: acceptProposal,
  control_media_buy: updateMediaBuy,
};

export const lifecycleBehaviour: Behaviour = {
  area: "lifecycle",
  needs: ["media-buys"],
  tools,
  capabilities: ({ tools: answered }) => ({
    media_buy: {
      lifecycle_tools: Object.keys(tools).filter((name) => answered.has(name)),
      ...(answered.has("refine_proposals") && { proposal_refinement: refinementCapability }),
    },
  }),
  scenarios: lifecycleScenarios,
};
