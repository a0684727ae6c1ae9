/** Everything a release says about itself, in one place. */
import type { FactTable, ReleaseFacts } from "../../../runtime/contract/index.js";
import { envelopeFacts, resultFacts } from "./answers.js";
import { discoveryFacts, signingFacts } from "./capabilities.js";
import { eventFacts } from "./events.js";
import type { FactSource } from "./read.js";
import { formatFacts, type Projection, projectionFacts, recoveryFacts, roleFacts, toolFacts } from "./tables.js";
import { ByVersion } from "./versions.js";

/**
 * With the projections that lie beside a package's schemas. Not every package of a release has them and its digest leaves them
 * out, so bindings do: the same release gives the same bytes.
 */
export interface PackageFacts extends ReleaseFacts {
  readonly projections: FactTable<Projection>;
}

/** Derives the facts from manifest and schemas; what only the version tells stands in one table. */
export function deriveFacts(source: FactSource): PackageFacts {
  const version = new ByVersion(source.version);
  const groups = {
    signing: signingFacts(source, version),
    discovery: discoveryFacts(source, version),
    envelope: envelopeFacts(source, version),
    results: resultFacts(source),
    events: eventFacts(source),
    tools: toolFacts(source, version),
    roles: roleFacts(source),
    projections: projectionFacts(source),
    recovery: recoveryFacts(source),
    formats: formatFacts(source),
  };
  return { ...groups, assumed: version.assumed };
}

/** Facts that no file of the release shows, by their names: what a release may lack. */
export const missingFacts = (facts: PackageFacts): string[] => [
  ...(facts.events.task === undefined ? ["events.task"] : []),
  ...(facts.events.subscribable === undefined ? ["events.subscribable"] : []),
  ...(Object.keys(facts.events.kinds).length === 0 ? ["events.kinds"] : []),
  ...(facts.tools.capabilities === undefined ? ["tools.capabilities"] : []),
  ...(facts.tools.task === undefined ? ["tools.task"] : []),
  ...(facts.tools.tasks === undefined ? ["tools.tasks"] : []),
  ...(Object.keys(facts.projections).length === 0 ? ["projections"] : []),
  ...(Object.keys(facts.recovery.codes).length === 0 ? ["recovery.codes"] : []),
];
