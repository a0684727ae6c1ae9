/** From the option `validator` to the validator of a release. */
import type { Release } from "../contract/index.js";
import { validatorMaker } from "./maker.js";
import type { AnyValidator, ValidatorSource } from "./types.js";

/** `validatorMaker` that compiles where no source is given: ajv is loaded then, and with the first release. */
export const validatorsFrom = (
  source: ValidatorSource | undefined,
  releases: readonly Release[],
): ((release: Release) => Promise<AnyValidator>) | undefined =>
  validatorMaker(source, releases, async (release) => (await import("./validator.js")).createValidator(release));
