import { type Behaviour, textParam } from "../frame/behaviour.js";
import { sandboxVerifier } from "./sandbox-verifier.js";
import { observationsOf } from "./verified.js";

/** Whether creatives are what they say they are. */
export const provenanceBehaviour: Behaviour = {
  area: "provenance",
  // What products demand; where nothing is sold, nothing is demanded.
  needs: [],
  tools: {},
  scenarios: {
    async query_provenance_audit_observations(params, call) {
      const creative_id = textParam(params, "creative_id");
      return { creative_id, audit_observations: await observationsOf(call, creative_id) };
    },
  },
  routes: sandboxVerifier,
};
