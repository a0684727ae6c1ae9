/** `adbind/validate`: a release's schemas as validators, compiled on first use. */
export { createValidator, type ValidationError, type ValidationResult, type Validator } from "./validator.js";
