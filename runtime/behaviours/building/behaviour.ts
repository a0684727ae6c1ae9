import type { JsonObject } from "../../contract/index.js";
import { formatOptions } from "../formats/options.js";
import type { Behaviour, Serving } from "../frame/behaviour.js";
import { buildCreative } from "./build.js";
import { capabilityId, isBuilt } from "./capability.js";
import { creativeDelivery } from "./delivery.js";
import { RETENTION_S, tidyLeaves } from "./leaves.js";
import { listTransformers, TRANSFORMERS } from "./transformers.js";
import { DIMENSIONS, MOST_VARIANTS } from "./variants.js";

/** What can be done with each format; without references to formats: this is what is built, whatever it is called elsewhere. */
function operated({ agentUrl, formats, shapes, tools, word }: Serving): JsonObject {
  const answer = shapes.answer(`get_${word}_capabilities`);
  const named = answer.has("creative", "supported_formats", "*", "operations");
  const drawn = named && tools.has("preview_creative");
  const known = answer.values("creative", "supported_formats", "*", "operations", "*") ?? [];
  const judged = known.includes("validate") && tools.has("validate_input");
  const supported = formatOptions(agentUrl, formats, shapes).flatMap(
    ({ v1_format_ref: _, format_option_id: id, ...format }, at) => {
      const operations = [
        ...(isBuilt(formats[at]!) ? ["build"] : []),
        ...(drawn ? ["preview"] : []),
        ...(judged ? ["validate"] : []),
      ];
      return operations.length === 0 ? [] : [{ capability_id: capabilityId(shapes, String(id)), format, operations }];
    },
  );
  // Pages are drawn here, and not by who serves the creative.
  const routes = supported.map(({ capability_id }) => ({ capability_id, rendering_origin: "agent_approximation" }));
  return { supported_formats: supported, ...(drawn && { preview: { routes } }) };
}

/** Making creatives, and serving them by tags. */
export const buildingBehaviour: Behaviour = {
  area: "building",
  needs: ["formats", "creatives", "previews", "usage"],
  tools: { build_creative: buildCreative, get_creative_delivery: creativeDelivery },
  /** A library is one that can be looked into. */
  capabilities: (serving) => ({
    creative: {
      [`bills_through_${serving.word}`]: false,
      ...operated(serving),
      has_creative_library: serving.tools.has("list_creatives"),
      supports_generation: true,
      supports_transformation: true,
      supports_compliance: false,
    },
  }),
};

/** Making creatives by what an account has configured: voices, models, presets. */
export const transformersBehaviour: Behaviour = {
  area: TRANSFORMERS,
  needs: ["building"],
  tools: { list_transformers: listTransformers },
  capabilities: (serving) => ({
    creative: {
      [`bills_through_${serving.word}`]: true,
      supports_transformers: true,
      supports_refinement: true,
      refinable_retention_seconds: RETENTION_S,
      supports_spend_controls: true,
      multiplicity: {
        supports_catalog_fanout: false,
        supports_variants: true,
        max_variants_limit: MOST_VARIANTS,
        variant_dimensions: DIMENSIONS,
      },
    },
  }),
  upkeep: tidyLeaves,
};
