/** Errors of one line of a call: the others of the call are done all the same. */
import type { ProtocolError } from "../../contract/index.js";
import type { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "./call.js";

/**
 * The `errors` of a line that failed, as the answer has them.
 * @param at the line's place in the request, such as `receipts[0]`; without it fields are named from the line on
 */
export function lineErrors({ release }: BehaviourCall, { error }: ToolError, at?: string): ProtocolError[] {
  const { field, ...rest } = error;
  const recovery = Object.hasOwn(release.errors, error.code) ? release.errors[error.code]?.recovery : undefined;
  return [
    {
      recovery: recovery ?? release.defaultUnknownRecovery,
      ...rest,
      ...(field !== undefined && { field: at === undefined ? field : `${at}.${field}` }),
    },
  ];
}
