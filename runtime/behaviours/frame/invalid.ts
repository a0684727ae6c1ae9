/** A value that a schema lets pass and its meaning does not. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "./call.js";
import type { AnswerShapes } from "./shape.js";

/** The release's word for a request that is not what it should be. */
export const invalidCode = (shapes: Pick<AnswerShapes, "knowsError">): string =>
  shapes.knowsError("VALIDATION_ERROR") ? "VALIDATION_ERROR" : "INVALID_REQUEST";

export const invalid = ({ shapes }: BehaviourCall, message: string, field: string): ToolError =>
  new ToolError(invalidCode(shapes), message, { field });

/** The release's word for a format that is not to be had. */
export const unsupported = ({ shapes }: BehaviourCall): string =>
  shapes.knowsError("FORMAT_NOT_SUPPORTED") ? "FORMAT_NOT_SUPPORTED" : "REFERENCE_NOT_FOUND";
