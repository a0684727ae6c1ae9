/** What packages name of the buyer's own: audiences, catalogues and event sources have to be there before money is spent by them. */
import { ToolError } from "../../seller/tool-error.js";
import { findAudience } from "../audiences/behaviour.js";
import { goalsOf, type NamedByBuyer, promotedCatalogs, targetingOf } from "../buys/targets.js";
import { findEventSource } from "../events/sources.js";
import type { BehaviourCall } from "../frame/call.js";
import { catalogs } from "../library/catalogs.js";

const unbound = (what: string, field: string): ToolError =>
  new ToolError("INVALID_REQUEST", `${what} is not there: sync it first`, { field });

/**
 * @param of whose the package is, and where it stands in the request
 * @throws ToolError INVALID_REQUEST for an audience, a catalogue or an event source that was not synced
 */
export async function checkBound(
  call: BehaviourCall,
  wanted: NamedByBuyer,
  { accountId, field }: { readonly accountId: string; readonly field: string },
): Promise<void> {
  if (call.served.has("audiences")) {
    const targeting = targetingOf(wanted);
    for (const name of ["audience_include", "audience_exclude"] as const)
      for (const [index, id] of (targeting[name] ?? []).entries())
        if ((await findAudience(call, id, accountId)) === undefined)
          throw unbound(`audience ${id}`, `${field}.targeting_overlay.${name}[${index}]`);
  }
  if (call.served.has("catalogs"))
    for (const id of promotedCatalogs(wanted))
      if ((await catalogs.get(call, accountId, id)) === undefined)
        throw unbound(`catalogue ${id}`, `${field}.catalogs`);
  if (!call.served.has("events")) return;
  for (const [goal, { event_sources = [] }] of goalsOf(wanted).entries())
    for (const [index, { event_source_id: id }] of event_sources.entries())
      if (id !== undefined && (await findEventSource(call, id))?.account_id !== accountId)
        throw unbound(
          `event source ${id}`,
          `${field}.optimization_goals[${goal}].event_sources[${index}].event_source_id`,
        );
}
