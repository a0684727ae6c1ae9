/** Facts among what commands show of a release. */
import type { Fact } from "../../runtime/contract/index.js";

/** A value with its place, and no group of such. */
export const isFact = (value: unknown): value is Fact<unknown> =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "value") && Object.hasOwn(value, "from");
