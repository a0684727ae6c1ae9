/** When packages may run. */
import { ToolError } from "../../seller/tool-error.js";
import type { BuyPackage } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";

/** Dates that are said, ISO 8601. */
interface Moved {
  readonly start: string | undefined;
  readonly end: string | undefined;
}

/** When a buy runs, ISO 8601. */
interface Lasting {
  readonly start: string;
  readonly end: string;
}

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
 * A package as new dates of its buy leave it: it moves with them where it ran as long as the buy; dates of its own stay, within
 * those of the buy.
 * @param of when its buy runs by now
 */
export function movedWith(of: Lasting, one: BuyPackage, { start, end }: Moved): BuyPackage {
  const [from, to] = [Date.parse(of.start), Date.parse(of.end)];
  const [own, until] = [Date.parse(one.start_time), Date.parse(one.end_time)];
  const begins = start !== undefined && (own <= from || own < Date.parse(start));
  const ends = end !== undefined && (until >= to || until > Date.parse(end));
  return { ...one, ...(begins && { start_time: start }), ...(ends && { end_time: end }) };
}

/**
 * @param within the dates of the buy, ISO 8601
 * @throws ToolError INVALID_REQUEST for a package that would run when its buy does not
 */
export function checkWithin(one: Moved, within: Lasting, field: string): void {
  const early = one.start !== undefined && Date.parse(one.start) < Date.parse(within.start);
  if (!early && (one.end === undefined || Date.parse(one.end) <= Date.parse(within.end))) return;
  const message = `a package runs within its media buy, from ${within.start} to ${within.end}`;
  throw new ToolError("INVALID_REQUEST", message, at(field, early ? "start_time" : "end_time"));
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
