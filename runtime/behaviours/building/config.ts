/** How a transformer's knobs are put: what it does not know, or cannot be put to, is refused, for it drives a paid render. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Transformer, TransformerParam } from "../ports/transformers.js";
import { optionsOf } from "./transformers.js";

export type Knobs = Readonly<Record<string, unknown>>;

interface Knob {
  readonly of: Transformer;
  readonly accountId: string | undefined;
}

const typeFits = (value: unknown, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : typeof value === type;

/** Why a knob cannot be put to a value; undefined where it can. */
async function faultOf(
  call: BehaviourCall,
  { of, accountId }: Knob,
  { param, value }: { param: TransformerParam; value: unknown },
): Promise<string | undefined> {
  if (!typeFits(value, param.type)) return `it has to be a ${param.type}`;
  switch (param.value_source) {
    case "inline":
      return param.allowed_values.includes(value) ? undefined : `it is one of ${param.allowed_values.join(", ")}`;
    case "range": {
      const within = (value as number) >= param.minimum && (value as number) <= param.maximum;
      return within ? undefined : `it is from ${param.minimum} to ${param.maximum}`;
    }
    case "enumerable": {
      const options = await optionsOf(call, of, param.field, accountId);
      const known = options.some((one) => one.value === value);
      return known ? undefined : "the account has no such value; list_transformers with expand_params lists them";
    }
    case "free_text": {
      const { max_length: most } = param;
      return most !== undefined && (value as string).length > most ? `it has at most ${most} characters` : undefined;
    }
  }
}

const refuse = (field: string, why: string): never => {
  throw new ToolError("INVALID_REQUEST", `config.${field}: ${why}`, { field: `config.${field}` });
};

/**
 * Every knob, as the buyer has put it or at its default.
 * @throws ToolError INVALID_REQUEST with the knob's name as field
 */
export async function checkedConfig(call: BehaviourCall, knob: Knob, given: Knobs): Promise<Knobs> {
  const { params } = knob.of;
  const unknown = Object.keys(given).find((field) => !params.some((param) => param.field === field));
  if (unknown !== undefined) refuse(unknown, `${knob.of.transformer_id} has no such knob`);
  const config: Record<string, unknown> = {};
  for (const param of params) {
    const { field } = param;
    const value = Object.hasOwn(given, field) ? given[field] : param.default;
    if (value === undefined) {
      if (param.required === true) refuse(field, "it has to be given");
      continue;
    }
    const fault = await faultOf(call, knob, { param, value });
    if (fault !== undefined) refuse(field, fault);
    config[field] = value;
  }
  return config;
}
