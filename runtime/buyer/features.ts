/** What an agent declares, asked for by name: who builds on a feature finds out before the first call that leans on it. */
import { type ArmsOf, isJsonObject, type JsonObject, type Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";

/** The tool of a release by which agents declare themselves. */
type CapabilitiesTool<R extends Release> = Extract<
  keyof R["tools"],
  "get_agent_capabilities" | `get_${R["word"]}_capabilities`
>;

/** The declaration of agents of a release, as its schema has it; any object where the release is known at run time only. */
export type CapabilitiesOf<R extends Release> = string extends keyof R["tools"]
  ? JsonObject
  : ArmsOf<R["tools"][CapabilitiesTool<R>]> extends { completed: infer C }
    ? C
    : JsonObject;

/** Is what stands here a yes? `false`, 0 and what is empty are a no. */
const affirmed = (value: unknown): boolean =>
  Array.isArray(value) || isJsonObject(value) ? Object.keys(value).length > 0 : Boolean(value);

/** Follows names down: members of objects, and words that lists have. */
function declares(at: unknown, names: readonly string[]): boolean {
  const [name, ...rest] = names;
  if (name === undefined) return affirmed(at);
  if (Array.isArray(at)) return rest.length === 0 && at.includes(name);
  return isJsonObject(at) && Object.hasOwn(at, name) && declares(at[name], rest);
}

/** Those of some features that a declaration lacks. */
export const lackingFeatures = (capabilities: unknown, features: readonly string[]): string[] =>
  features.filter((feature) => !declares(capabilities, feature.split(".")));

export const featureMissing = (agent: string, what: string, remedy: string): AdbindError =>
  new AdbindError("feature_missing", what, { where: agent, remedy });
