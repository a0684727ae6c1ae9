/** From the option `validator` to the validator of a release. */
import type { Release } from "../contract/index.js";
import type { AnyValidator, ValidatorSource } from "./types.js";

/**
 * Makes what gives each release its validator, once. ajv is loaded where no source is given, and with the first release.
 * @param releases those the validators are asked for
 * @returns undefined where one validator is to serve several releases, which none can: the caller names its option
 */
export function validatorsFrom(
  source: ValidatorSource | undefined,
  releases: readonly Release[],
): ((release: Release) => Promise<AnyValidator>) | undefined {
  if (source !== undefined && typeof source !== "function") return releases.length > 1 ? undefined : async () => source;
  const make = source ?? (async (release: Release) => (await import("./validator.js")).createValidator(release));
  const made = new Map<Release, Promise<AnyValidator>>();
  return (release) => {
    const known = made.get(release) ?? Promise.resolve().then(() => make(release));
    made.set(release, known);
    return known;
  };
}
