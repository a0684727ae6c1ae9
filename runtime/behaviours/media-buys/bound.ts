/** What packages name of the buyer's own: audiences and event sources have to be there before money is spent by them. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { findAudience } from "../audiences/behaviour.js";
import { findEventSource } from "../events/sources.js";
import type { BehaviourCall } from "../frame/call.js";

interface Targeting {
  readonly audience_include?: readonly string[];
  readonly audience_exclude?: readonly string[];
}

interface Goal {
  readonly event_sources?: readonly { readonly event_source_id?: string }[];
}

/** The part of a package that names them. */
export interface NamedByBuyer {
  readonly targeting_overlay?: unknown;
  readonly optimization_goals?: unknown;
}

const targetingOf = ({ targeting_overlay }: NamedByBuyer): Targeting => (targeting_overlay ?? {}) as Targeting;

/** Audiences a package is for, or is not for. */
export const targetedAudiences = (terms: JsonObject): readonly string[] => {
  const { audience_include: into = [], audience_exclude: out = [] } = targetingOf(terms);
  return [...into, ...out];
};

const unbound = (what: string, field: string): ToolError =>
  new ToolError("INVALID_REQUEST", `${what} is not there: sync it first`, { field });

/**
 * @param of whose the package is, and where it stands in the request
 * @throws ToolError INVALID_REQUEST for an audience or an event source that was not synced
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
  if (!call.served.has("events")) return;
  for (const [goal, { event_sources = [] }] of ((wanted.optimization_goals ?? []) as readonly Goal[]).entries())
    for (const [index, { event_source_id: id }] of event_sources.entries())
      if (id !== undefined && (await findEventSource(call, id)) === undefined)
        throw unbound(
          `event source ${id}`,
          `${field}.optimization_goals[${goal}].event_sources[${index}].event_source_id`,
        );
}
