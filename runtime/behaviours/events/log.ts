import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { collection } from "../frame/collection.js";
import { type EventSource, findEventSource } from "./sources.js";

interface LoggedEvent extends JsonObject {
  readonly event_id: string;
  readonly event_type: string;
  readonly custom_event_name?: string;
  readonly user_match?: unknown;
  readonly content_ids?: unknown;
  readonly custom_data?: {
    readonly value?: number;
    readonly currency?: string;
    readonly contents?: readonly { readonly price?: number }[];
  };
}

interface Wanted {
  readonly event_source_id: string;
  readonly events: readonly LoggedEvent[];
  readonly test_event_code?: string;
}

const kept = collection<LoggedEvent>("event");

/**
 * `log_event`: each event counts once, however often it is sent.
 * @throws ToolError REFERENCE_NOT_FOUND for a source that was not synced
 */
export const logEvents: ToolBehaviour = async (request: Wanted, call) => {
  const source = await findEventSource(call, request.event_source_id);
  if (source === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", `no event source ${request.event_source_id}`, {
      field: "event_source_id",
    });
  const owner = { principal: call.principal, part: source.event_source_id };
  const failures: JsonObject[] = [];
  const taken: LoggedEvent[] = [];
  let matched = 0;
  for (const event of request.events) {
    const problem = problemOf(event, source);
    if (problem !== undefined) {
      failures.push({ event_id: event.event_id, code: "INVALID_EVENT", message: problem });
      continue;
    }
    if (isMatched(event)) matched += 1;
    // An event sent for a test is looked at and forgotten.
    if (request.test_event_code === undefined) taken.push(event);
  }
  const processed = request.events.length - failures.length;
  for (const event of taken) kept.put(call, owner, JSON.stringify([event.event_type, event.event_id]), event);
  if (taken.length > 0)
    await call.ports.events.take(taken, { principal: call.principal, sourceId: source.event_source_id });
  return call.answer({
    events_received: request.events.length,
    events_processed: processed,
    ...(failures.length > 0 && { partial_failures: failures }),
    match_quality: processed === 0 ? 0 : Math.round((matched / processed) * 100) / 100,
  });
};

function problemOf(
  event: LoggedEvent,
  { event_types: types, value_currencies: currencies }: EventSource,
): string | undefined {
  if (types !== undefined && !types.includes(event.event_type)) return `the source sends no ${event.event_type}`;
  if (event.event_type === "custom" && event.custom_event_name === undefined) return "a custom event has a name";
  const { value, currency = "", contents = [] } = event.custom_data ?? {};
  const isWorth = value !== undefined || contents.some(({ price }) => price !== undefined);
  // Nobody converts: what is worth something else would be counted as if it were worth this.
  if (currencies !== undefined && isWorth && !currencies.includes(currency))
    return `the source has values in ${currencies.join(", ")}: say in which of them this one is`;
  return undefined;
}

/** Something says whose event it is, or which item it is about. */
const isMatched = (event: LoggedEvent): boolean =>
  event.user_match !== undefined || event.content_ids !== undefined || event.custom_data !== undefined;
