import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, ownerOfRef } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DocumentOwner } from "../frame/collection.js";
import { forcedAnswer, forcedReply } from "../frame/forced.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { Signal } from "../ports/signals.js";
import { activationsOf, deploymentOf, offeredSignals, type SignalDestination } from "./activate.js";
import { describedBy, passesFilter, type SignalFilter, signalId } from "./match.js";

interface SignalName {
  readonly source?: string;
  readonly scope?: string;
  readonly id?: string;
  readonly signal_id?: string;
  readonly data_provider_domain?: string;
}

interface Wanted {
  readonly account?: AccountRef;
  /** `wholesale`: everything there is. */
  readonly discovery_mode?: string;
  readonly signal_spec?: string;
  readonly signal_ids?: readonly SignalName[];
  readonly signal_refs?: readonly SignalName[];
  readonly filters?: SignalFilter;
  readonly countries?: readonly string[];
  readonly destinations?: readonly SignalDestination[];
  readonly max_results?: number;
  readonly pagination?: PageWanted;
}

/** A name of either form: what it is called, and whose catalogue it is in. */
function isWanted(signal: Signal, wanted: SignalName): boolean {
  const { origin } = signal;
  if ((wanted.signal_id ?? wanted.id) !== origin.id) return false;
  return origin.catalog === "owned"
    ? wanted.data_provider_domain === undefined
    : wanted.data_provider_domain === origin.domain;
}

/** `get_signals`: by name, by description, or by both: then the named ones come first. */
export const findSignals: ToolBehaviour = async (request: Wanted, call) => {
  const forced = await forcedAnswer(call);
  if (forced !== undefined) return forcedReply(call, forced);
  const { signal_spec: spec, signal_ids: ids, signal_refs: refs, filters = {}, countries, destinations } = request;
  const names = [...(ids ?? []), ...(refs ?? [])];
  const everything = request.discovery_mode === "wholesale" && names.length === 0;
  if (spec === undefined && ids === undefined && refs === undefined && !everything)
    throw new ToolError("INVALID_REQUEST", "say what is wanted: signal_spec, names of signals, or both", {
      field: "signal_spec",
    });
  const all = (await offeredSignals(call)).filter((signal) => passesFilter(signal, filters, countries));
  const named = names.flatMap((name) => all.filter((signal) => isWanted(signal, name)));
  const described = everything ? all : spec === undefined ? [] : describedBy(all, spec);
  const found = [...new Set([...named, ...described])];
  const size = request.pagination?.max_results ?? request.max_results;
  const wanted = { ...request.pagination, ...(size !== undefined && { max_results: size }) };
  const { items, pagination } = listPage(found, wanted, ({ segmentId }) => segmentId);
  const owner = await ownerOfRef(call, request.account);
  return call.answer({
    signals: await Promise.all(items.map((signal) => shown(call, signal, owner, destinations))),
    pagination,
    cache_scope: request.account === undefined ? "public" : "account",
  });
};

/** A signal as the wire has it, with where it is live for this account. */
async function shown(
  call: BehaviourCall,
  signal: Signal,
  owner: DocumentOwner,
  destinations: readonly SignalDestination[] | undefined,
): Promise<JsonObject> {
  const { value, origin } = signal;
  const active = await activationsOf(call, owner, signal.segmentId);
  const places = destinations ?? active.map(({ destination }) => destination);
  return {
    signal_agent_segment_id: signal.segmentId,
    signal_id: signalId(signal, call.agentUrl),
    signal_ref:
      origin.catalog === "marketplace"
        ? { scope: "data_provider", data_provider_domain: origin.domain, signal_id: origin.id }
        : { scope: "signal_source", signal_source_url: call.agentUrl, signal_id: origin.id },
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
