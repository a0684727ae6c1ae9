/** When packages may run. */
import { ToolError } from "../../seller/tool-error.js";
import type { BuyPackage } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";

/** What may be in the past by the time a request arrives, in milliseconds. */
const START_SLACK_MS = 3_600_000;

const at = (field: string, name: string): { field: string } => ({ field: field === "" ? name : `${field}.${name}` });

/** @throws ToolError INVALID_REQUEST */
export function checkDates(start: string, end: string, field: string): void {
  if (Date.parse(end) <= Date.parse(start))
    throw new ToolError("INVALID_REQUEST", `it would end (${end}) before it starts (${start})`, at(field, "end_time"));
}

/** @throws ToolError INVALID_REQUEST for a start that has passed */
export function checkStart({ now }: BehaviourCall, start: string, field: string): void {
  if (Date.parse(start) < now.getTime() - START_SLACK_MS)
    throw new ToolError(
      "INVALID_REQUEST",
      `${start} has passed; give a later start_time, or asap`,
      at(field, "start_time"),
    );
}

/** @throws ToolError INVALID_REQUEST for an end that has passed */
export function checkEnd({ now }: BehaviourCall, end: string, field: string): void {
  if (Date.parse(end) <= now.getTime())
    throw new ToolError("INVALID_REQUEST", `it would end at ${end}, which has passed`, at(field, "end_time"));
}

/**
 * What has run has run: no package begins or ends anew in the past.
 * @param field where what is said of it stands in the request
 * @throws ToolError INVALID_REQUEST
 */
export function checkMoved(call: BehaviourCall, before: BuyPackage, after: BuyPackage, field: string): void {
  if (Date.parse(after.start_time) !== Date.parse(before.start_time)) checkStart(call, after.start_time, field);
  if (Date.parse(after.end_time) !== Date.parse(before.end_time)) checkEnd(call, after.end_time, field);
}
