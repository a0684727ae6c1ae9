/** From the option `validator` to the validator of a release, with whatever makes one. Nothing that compiles is in its graph. */
import type { Release } from "../contract/index.js";
import type { AnyValidator, ValidatorSource } from "./types.js";

/**
 * Makes what gives each release its validator, once.
 * @param releases those the validators are asked for
 * @param usual makes one where no source is given
 * @returns undefined where one validator is to serve several releases, which none can: the caller names its option
 */
export function validatorMaker(
  source: ValidatorSource | undefined,
  releases: readonly Release[],
  usual: (release: Release) => AnyValidator | Promise<AnyValidator>,
): ((release: Release) => Promise<AnyValidator>) | undefined {
  if (source !== undefined && typeof source !== "function") return releases.length > 1 ? undefined : async () => source;
  const make = source ?? usual;
  const made = new Map<Release, Promise<AnyValidator>>();
  return (release) => {
    const known = made.get(release) ?? Promise.resolve().then(() => make(release));
    made.set(release, known);
    return known;
  };
}
