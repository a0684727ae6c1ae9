/** Schema shapes for one property of a request: each is legal draft-07, and few are common. */
import type { Any } from "../../support/mutate-release.js";

export interface Shape {
  /** Schema of the property. */
  schema: Any;
  /** Goes into the root of the schema file: definitions the property refers to. */
  root?: Any;
  /** Further files, by path; `$ref`s to them are relative to the file's folder. */
  files?: Record<string, Any>;
  /** Values to judge beside the ones made for every shape. */
  values?: unknown[];
}

export const text = { type: "string" };
export const number = { type: "number" };
