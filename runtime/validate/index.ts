/** `adbind/validate`: a release's schemas as validators, compiled on first use. */
export type { AnyValidator, ValidationError, ValidationResult, Validator, ValidatorSource } from "./types.js";
export { createValidator } from "./validator.js";
