import type { JsonObject } from "../../contract/index.js";
import { type ControllerScenario, ScenarioError, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { findProduct } from "../products/products.js";
import { findNegotiated, saveNegotiated } from "../products/terms.js";

/** Everything here answers at once: what is to be prepared is only that the product is there. */
async function prepared(params: JsonObject, call: BehaviourCall): Promise<JsonObject> {
  const product_id = textParam(params, "product_id");
  if ((await findProduct(call, product_id)) === undefined)
    throw new ScenarioError("NOT_FOUND", `no product ${product_id}`);
  return { simulated: { operation: "prepare", prepared: true, product_id } };
}

/** The hold of a committed proposal is over. */
async function expired(params: JsonObject, call: BehaviourCall): Promise<JsonObject> {
  const proposal_id = textParam(params, "proposal_id");
  const found = await findNegotiated(call, proposal_id);
  if (found === undefined) throw new ScenarioError("NOT_FOUND", `no proposal ${proposal_id}`);
  if (found.state !== "committed")
    throw new ScenarioError("INVALID_STATE", "only a committed proposal expires", found.state);
  saveNegotiated(call, { ...found, expires_at: call.time });
  const target_time = new Date(call.now.getTime() + 1).toISOString();
  return { simulated: { operation: "expire_proposal", expiry_processed: true, proposal_id, target_time } };
}

const probe =
  (operations: Readonly<Record<string, ControllerScenario>>): ControllerScenario =>
  async (params, call) => {
    const operation = operations[textParam(params, "operation")];
    if (operation === undefined)
      throw new ScenarioError(
        "INVALID_PARAMS",
        `params.operation must be one of ${Object.keys(operations).join(", ")}`,
      );
    return operation(params, call);
  };

export const lifecycleScenarios = {
  compact_product_lifecycle_probe: probe({ prepare: prepared, expire_proposal: expired }),
  compact_direct_buy_lifecycle_probe: probe({ prepare: prepared }),
};
