import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { eventSource } from "./sources.js";

type Wanted = Request<"log_event">;
type Event = Wanted["events"][number];

const KIND = "event";

/**
 * `log_event`: each event counts once, however often it is sent.
 * @throws ToolError REFERENCE_NOT_FOUND for a source that was not synced
 */
export function logEvents(call: Call, request: Wanted): JsonObject {
  const source = eventSource(call, request.event_source_id);
  if (source === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", `no event source ${request.event_source_id}`, {
      field: "event_source_id",
    });
  const owner = `${call.principal}/${source.event_source_id}`;
  const failures: JsonObject[] = [];
  let matched = 0;
  for (const event of request.events) {
    const problem = problemOf(event, source.event_types);
    if (problem !== undefined) {
      failures.push({ event_id: event.event_id, code: "INVALID_EVENT", message: problem });
      continue;
    }
    if (isMatched(event)) matched += 1;
    // An event sent for a test is looked at and forgotten.
    if (request.test_event_code === undefined) call.documents.put(KIND, owner, event.event_id, { ...event });
  }
  const processed = request.events.length - failures.length;
  return {
    events_received: request.events.length,
    events_processed: processed,
    ...(failures.length > 0 && { partial_failures: failures }),
    match_quality: processed === 0 ? 0 : Math.round((matched / processed) * 100) / 100,
  };
}

function problemOf(event: Event, types: readonly string[] | undefined): string | undefined {
  if (types !== undefined && !types.includes(event.event_type)) return `the source sends no ${event.event_type}`;
  if (event.event_type === "custom" && event.custom_event_name === undefined) return "a custom event has a name";
  return undefined;
}

/** Something says whose event it is, or which item it is about. */
const isMatched = (event: Event): boolean =>
  event.user_match !== undefined || extra(event, "content_ids") !== undefined || event.custom_data !== undefined;
