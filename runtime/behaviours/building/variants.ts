/** What several creatives of one request differ in. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { RenderJob, Transformer } from "../ports/transformers.js";
import { checkedConfig, type Knobs } from "./config.js";
import type { Build } from "./targets.js";
import { optionsOf } from "./transformers.js";

/** One of them: how its knobs are put, and what it is to differ in. */
export interface Cell {
  readonly config: Knobs;
  readonly variant?: NonNullable<RenderJob["variant"]>;
}

/** Most of one request; more are asked for in vain. Each is paid, and made while the caller waits. */
export const MOST_VARIANTS = 8;

/** What `variant_axis.dimension` may be. */
export const DIMENSIONS = ["voice", "theme", "best_of_n", "transformer_config", "custom"] as const;

interface Setting {
  readonly of: Transformer;
  readonly accountId: string | undefined;
  readonly config: Knobs;
}

/** The knob that an axis turns; undefined for an axis that is in nobody's hand. */
function knobOf({ params }: Transformer, axis: NonNullable<Build["variant_axis"]>): string | undefined {
  const { dimension, field } = axis;
  const named = dimension === "transformer_config" ? field : (field ?? dimension);
  const known = params.some((param) => param.field === named);
  if (dimension !== "transformer_config") return known ? named : undefined;
  if (known) return named;
  throw new ToolError("INVALID_REQUEST", "name the knob that the variants differ in", { field: "variant_axis.field" });
}

/** Values that nobody has named: those that the knob has. */
async function ownValues(call: BehaviourCall, { of, accountId }: Setting, knob: string): Promise<readonly unknown[]> {
  const param = of.params.find(({ field }) => field === knob);
  if (param?.value_source === "inline") return param.allowed_values;
  if (param?.value_source !== "enumerable") return [];
  return (await optionsOf(call, of, knob, accountId)).map(({ value }) => value);
}

/** One cell for each creative of a format. @throws ToolError INVALID_REQUEST for a value that a knob cannot be put to */
export async function cellsOf(call: BehaviourCall, setting: Setting, request: Build): Promise<readonly Cell[]> {
  const { variant_axis: axis, max_variants = 1 } = request;
  const { of, accountId, config } = setting;
  const most = (count: number): number => Math.min(count, MOST_VARIANTS);
  if (axis === undefined) {
    if (max_variants === 1) return [{ config }];
    return Array.from({ length: most(max_variants) }, (_, index) => ({
      config,
      variant: { dimension: "best_of_n", index },
    }));
  }
  const knob = knobOf(of, axis);
  const given = axis.values ?? (knob === undefined ? [] : await ownValues(call, setting, knob));
  // Nobody pays for the same twice: of a knob there are as many as it has values.
  const count = most(axis.values?.length ?? (given.length > 0 ? Math.min(max_variants, given.length) : max_variants));
  const turned = async (index: number): Promise<Cell> => {
    const { [index]: value } = given;
    const variant = { dimension: axis.dimension, index, ...(value !== undefined && { value }) };
    if (knob === undefined || value === undefined) return { config, variant };
    return { config: await checkedConfig(call, { of, accountId }, { ...config, [knob]: value }), variant };
  };
  return Promise.all(Array.from({ length: count }, (_, index) => turned(index)));
}
