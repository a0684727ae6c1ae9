/** How much the registry knows: kept with every change, for everybody may ask. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { counts } from "../store/registry-profiles.js";
import type { Stats } from "./types.js";

export function* stats(q: Query): Coroutine<Stats> {
  const kept = yield* counts(q);
  const of = (kind: string): Record<string, number> =>
    Object.fromEntries(kept.filter((row) => row.kind === kind).map(({ name, count: number }) => [name, number]));
  const sum = (numbers: Record<string, number>): number => Object.values(numbers).reduce((a, b) => a + b, 0);
  return {
    registered_agents: of("agents").registered ?? 0,
    registered_publishers: of("domains").verified ?? 0,
    discovered_agents: of("agents").discovered ?? 0,
    discovered_publishers: of("publishers").discovered ?? 0,
    discovered_properties: sum(of("properties")),
    authorizations: sum(of("authorizations")),
    authorizations_by_source: of("authorizations"),
    properties_by_type: of("properties"),
  };
}
