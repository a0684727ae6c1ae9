/** What narrows an entry of `authorized_agents`: where it cannot be read, the entry must not count without it. */
import { isJsonObject } from "../../contract/json-object.js";
import type { ProblemRule } from "../file-problems.js";
import type { AgentEntry } from "../types.js";
import type { JsonRecord } from "./document.js";
import { signingKeysOf } from "./signing-keys.js";
import { textsOf } from "./values.js";

/** Values of one list in an entry. */
export const MAX_VALUES = 10_000;
export const MAX_VALUE = 255;
/** A message where a value leaves no safe reading. */
export class Unusable {
  constructor(
    readonly rule: ProblemRule,
    readonly message: string,
  ) {}
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** What narrows an entry beyond its selector, and the keys it pins: of each that is given something must be readable. */
export function limitsOf(
  entry: JsonRecord,
): Pick<AgentEntry, "placementIds" | "placementTags" | "signingKeys"> | Unusable {
  const placementIds = textsOf(entry.placement_ids, MAX_VALUE, MAX_VALUES) ?? [];
  const placementTags = textsOf(entry.placement_tags, MAX_VALUE, MAX_VALUES) ?? [];
  for (const [name, found] of [
    ["placement_ids", placementIds],
    ["placement_tags", placementTags],
  ] as const)
    if (isGiven(entry[name]) && found.length === 0) return new Unusable("placements", `${name} has no text`);
  const { collections } = entry;
  if (isGiven(collections) && !(Array.isArray(collections) && collections.some(isJsonObject)))
    return new Unusable("collections", "collections is no list of selectors");
  const signingKeys = signingKeysOf(entry.signing_keys);
  if (isGiven(entry.signing_keys) && signingKeys.length === 0)
    return new Unusable("signing_keys", "signing_keys has no key with kid and kty");
  return {
    ...(placementIds.length > 0 && { placementIds }),
    ...(placementTags.length > 0 && { placementTags }),
    ...(signingKeys.length > 0 && { signingKeys }),
  };
}
