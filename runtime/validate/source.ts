/** From the option `validator` to the validator of a release. */
import type { Release } from "../contract/index.js";
import { validatorMaker } from "./maker.js";
import type { AnyValidator, ValidatorSource } from "./types.js";

/** By release: what is compiled for a seller is not compiled again for the buyer, or the other tenant's seller, beside it. */
const compiled = new WeakMap<Release, Promise<AnyValidator>>();

async function compiling(release: Release): Promise<AnyValidator> {
  const made = compiled.get(release) ?? import("./validator.js").then((it) => it.createValidator(release));
  compiled.set(release, made);
  try {
    return await made;
  } catch (error) {
    // Its schemas could not be read: whoever asks next may fare better.
    if (compiled.get(release) === made) compiled.delete(release);
    throw error;
  }
}

/** `validatorMaker` that compiles where no source is given: ajv is loaded then, and with the first release. */
export const validatorsFrom = (
  source: ValidatorSource | undefined,
  releases: readonly Release[],
): ((release: Release) => Promise<AnyValidator>) | undefined => validatorMaker(source, releases, compiling);
