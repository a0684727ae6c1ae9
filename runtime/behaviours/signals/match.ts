/** Which signals answer a description. */
import { stems } from "../frame/words.js";
import type { Signal } from "../ports/signals.js";

export interface SignalFilter {
  readonly catalog_types?: readonly string[];
  readonly data_providers?: readonly string[];
  readonly max_cpm?: number;
  readonly max_percent?: number;
  readonly min_coverage_percentage?: number;
}

/** The universal name of a signal. `agentUrl` is ours. */
export const signalId = ({ origin }: Signal, agentUrl: string) =>
  origin.catalog === "marketplace"
    ? ({ source: "catalog", data_provider_domain: origin.domain, id: origin.id } as const)
    : ({ source: "agent", agent_url: agentUrl, id: origin.id } as const);

/** How many words of the description the signal answers; 0 is no match. */
function score(signal: Signal, wanted: ReadonlySet<string>): number {
  const own = stems(`${signal.name} ${signal.description} ${signal.provider}`);
  return [...wanted].filter((word) => own.has(word)).length;
}

const affordable = (signal: Signal, { max_cpm, max_percent }: SignalFilter): boolean =>
  signal.pricing.some((price) => {
    if (price.model === "cpm") return max_cpm === undefined || price.cpm <= max_cpm;
    if (price.model === "percent_of_media") return max_percent === undefined || price.percent <= max_percent;
    // The two limits are on their own models: a flat fee is under neither.
    return true;
  });

export function passesFilter(signal: Signal, filter: SignalFilter, countries: readonly string[] = []): boolean {
  const { catalog_types, data_providers, min_coverage_percentage = 0 } = filter;
  return (
    (catalog_types === undefined || catalog_types.includes(signal.origin.catalog)) &&
    (data_providers === undefined || data_providers.includes(signal.provider)) &&
    signal.coverage >= min_coverage_percentage &&
    (signal.countries === undefined || countries.every((country) => signal.countries?.includes(country))) &&
    affordable(signal, filter)
  );
}

/** Signals that answer the description, best first; the order of equals is that of the catalogue. */
export function describedBy(signals: readonly Signal[], spec: string): Signal[] {
  const wanted = stems(spec);
  return signals
    .map((signal) => ({ signal, found: score(signal, wanted) }))
    .filter(({ found }) => found > 0)
    .sort((a, b) => b.found - a.found)
    .map(({ signal }) => signal);
}
