/** `get_creative_features`: what can be measured of a creative. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import { repetitionOf } from "../frame/repetition.js";

interface Wanted {
  readonly creative_manifest: JsonObject;
  readonly feature_ids?: readonly string[];
}

const creativeFeatures: ToolBehaviour = async (request: Wanted, call) => {
  const { creatives } = call.ports.policy;
  if (creatives === undefined) throw new ToolError("UNSUPPORTED_FEATURE", "creatives are not measured here");
  const all = creatives.features.map(({ feature_id }) => feature_id);
  const { creative_manifest: manifest, feature_ids: featureIds = all } = request;
  const unknown = featureIds.findIndex((id) => !all.includes(id));
  if (unknown >= 0)
    throw new ToolError("INVALID_REQUEST", `there is no such feature; there are ${all.join(", ")}`, {
      field: `feature_ids[${unknown}]`,
    });
  const evaluation = call.id("eval");
  const idempotencyKey = repetitionOf(call, request, 0);
  const measured = await creatives.measure({ manifest, featureIds, principal: call.principal }, { idempotencyKey });
  const results = measured.map((one) => ({ ...one, measured_at: call.time }));
  return call.answer({ evaluation_id: evaluation, results });
};

/** Measuring creatives. */
export const creativeFeaturesBehaviour: Behaviour = {
  area: "creative-features",
  tools: { get_creative_features: creativeFeatures },
  withheld: ({ ports: { policy } }) => (policy.creatives === undefined ? ["get_creative_features"] : []),
  capabilities: ({ ports: { policy } }) => ({
    governance: policy.creatives === undefined ? {} : { creative_features: policy.creatives.features },
  }),
};
