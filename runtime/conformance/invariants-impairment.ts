/** A media buy says that it is impaired when, and only when, something it depends on is. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { hasEnded } from "./invariants-status.js";
import type { GradedCheck } from "./result.js";

/** States in which a resource is of no use, by its kind. */
const offlineStates: Readonly<Record<string, string>> = {
  audience: "suspended",
  creative: "rejected",
  catalog_item: "withdrawn",
  event_source: "insufficient",
};

const resources: readonly { readonly list: string; readonly id: string; readonly kind: string }[] = [
  { list: "audiences", id: "audience_id", kind: "audience" },
  { list: "creatives", id: "creative_id", kind: "creative" },
];

function remember(payload: JsonObject, offline: Map<string, string>): void {
  for (const { list, id, kind } of resources) {
    const items = payload[list];
    for (const item of Array.isArray(items) ? items.filter(isJsonObject) : [])
      if (typeof item[id] === "string" && typeof item.status === "string")
        offline.set(`${kind} ${item[id]}`, item.status);
  }
}

/** A test controller says what it has put a resource into. */
function rememberForced(
  { current_state: state }: JsonObject,
  offline: Map<string, string>,
  { params }: JsonObject,
): void {
  if (typeof state !== "string" || !isJsonObject(params)) return;
  for (const { id, kind } of resources) if (typeof params[id] === "string") offline.set(`${kind} ${params[id]}`, state);
}

/**
 * @param offline the last state seen of each resource; what an answer tells is added
 * @param request what was answered
 */
export function coherent(
  payload: JsonObject | null,
  offline: Map<string, string>,
  request: JsonObject = {},
): GradedCheck | undefined {
  if (payload === null) return undefined;
  remember(payload, offline);
  rememberForced(payload, offline, request);
  const buys = Array.isArray(payload.media_buys) ? payload.media_buys.filter(isJsonObject) : [];
  const broken = (pointer: string, expected: unknown, actual: unknown): GradedCheck => ({
    check: "invariant impairment.coherence",
    description: "health and impairments of a media buy agree with each other and with its resources",
    outcome: "failed",
    pointer,
    expected,
    actual,
  });
  for (const [index, buy] of buys.entries()) {
    const state = buy.media_buy_status ?? buy.status;
    if (hasEnded("media_buy", String(state)) || !("health" in buy)) continue;
    const listed = Array.isArray(buy.impairments) ? buy.impairments.filter(isJsonObject) : [];
    const impaired = buy.health === "impaired";
    if (impaired !== listed.length > 0)
      return broken(`/media_buys/${index}/health`, { impaired: listed.length > 0 }, buy.health);
    for (const [at, { resource_type: kind, resource_id: id }] of listed.entries()) {
      const seen = offline.get(`${kind} ${id}`);
      const dead = Object.hasOwn(offlineStates, String(kind)) ? offlineStates[String(kind)] : undefined;
      if (seen !== undefined && dead !== undefined && seen !== dead)
        return broken(`/media_buys/${index}/impairments/${at}`, `${kind} ${id} ${dead}`, seen);
    }
  }
  return undefined;
}
