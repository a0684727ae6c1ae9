/** What the agent can do, as `creative.supported_formats` names it. */
import { canonicalKind } from "../formats/options.js";
import type { AnswerShapes } from "../frame/shape.js";
import type { CreativeFormat } from "../ports/creatives.js";

/** Where requests name a format and a capability in one field, a name of its own says which of the two it is. */
const APART = "canonical_";

/** Whether requests have a field of their own for a capability. */
const isApart = (shapes: AnswerShapes): boolean => !shapes.request("build_creative").has("target_capability_id");

export const capabilityId = (shapes: AnswerShapes, id: string): string => (isApart(shapes) ? `${APART}${id}` : id);

/** The format of a capability that stands in a format's place; undefined for what is a format's own name. */
export const capabilityIn = (shapes: AnswerShapes, id: string): string | undefined =>
  isApart(shapes) && id.startsWith(APART) ? id.slice(APART.length) : undefined;

/** Put together from parts that buyers bring: there is nothing to build. */
const assembled = new Set(["native_in_feed", "sponsored_placement", "responsive_creative", "image_carousel"]);

/** Whether manifests of a format are made here. */
export const isBuilt = (format: CreativeFormat): boolean => !assembled.has(canonicalKind(format));
