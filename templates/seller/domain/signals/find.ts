import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { ownerOfRef } from "../accounts/accounts.js";
import { activationsOf, type Destination, deploymentOf } from "./activate.js";
import { describedBy, passes, type Signal, signalId } from "./catalog.js";

/** The signals this agent offers: its fixtures, and what else was put there. */
const offered = (call: Call): Signal[] => call.documents.list<Signal>("signal", "");

type Wanted = NonNullable<Request<"get_signals">["signal_ids"]>[number];

const isWanted = (signal: Signal, wanted: Wanted, agentUrl: string): boolean => {
  const own = signalId(signal, agentUrl);
  if (wanted.source !== own.source || wanted.id !== own.id) return false;
  return own.source === "agent" || extra(wanted, "data_provider_domain") === own.data_provider_domain;
};

/** `get_signals`: by name, by description, or by both: then the named ones come first. */
export function findSignals(call: Call, request: Request<"get_signals">): JsonObject {
  const { signal_spec: spec, signal_ids: ids, filters = {}, countries, destinations } = request;
  if (spec === undefined && ids === undefined) {
    throw new ToolError("INVALID_REQUEST", "say what is wanted: signal_spec, signal_ids or both", {
      field: "signal_spec",
    });
  }
  const all = offered(call).filter((signal) => passes(signal, filters, countries));
  const named = (ids ?? []).flatMap((id) => all.filter((signal) => isWanted(signal, id, call.agentUrl)));
  const described = spec === undefined ? [] : describedBy(all, spec);
  const found = [...new Set([...named, ...described])];
  const size = request.pagination?.max_results ?? request.max_results;
  const { items, pagination } = page(
    found,
    { ...request.pagination, ...(size !== undefined && { max_results: size }) },
    ({ segmentId }) => segmentId,
  );
  const owner = ownerOfRef(call, request.account);
  return { signals: items.map((signal) => show(call, signal, owner, destinations)), pagination };
}

/** A signal as the wire has it, with where it is live for this account. */
function show(call: Call, signal: Signal, owner: string, destinations: readonly Destination[] | undefined): JsonObject {
  const { value, origin } = signal;
  const active = activationsOf(call, owner, signal.segmentId);
  const places = destinations ?? active.map(({ destination }) => destination);
  return {
    signal_agent_segment_id: signal.segmentId,
    signal_id: signalId(signal, call.agentUrl),
    name: signal.name,
    description: signal.description,
    data_provider: signal.provider,
    signal_type: origin.catalog,
    value_type: value.type,
    ...(value.type === "categorical" && { categories: value.categories }),
    ...(value.type === "numeric" && { range: { min: value.min, max: value.max } }),
    coverage_percentage: signal.coverage,
    pricing_options: signal.pricing,
    deployments: places.map((destination) => deploymentOf(destination, active)),
  };
}
