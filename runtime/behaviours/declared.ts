/** What a seller says that it can do, of each release in that release's terms. */
import { type JsonObject, type Release, shortVersion } from "../contract/index.js";
import { declaredBy, merge, type ServedAreas, triedBy } from "./areas.js";
import { offeredFormats } from "./formats/formats.js";
import type { BehaviourSettings } from "./frame/call.js";
import { shapesOf } from "./frame/shape.js";
import type { BehavingSellerOptions } from "./options.js";

/** What is declared goes into the map, by version; what the application says of itself is laid over it. */
export async function declareAll(
  into: Map<string, JsonObject>,
  releases: readonly Release[],
  { specialisms, capabilities = {} }: Pick<BehavingSellerOptions, "specialisms" | "capabilities">,
  { served, settings, answered }: { served: ServedAreas; settings: BehaviourSettings; answered: ReadonlySet<string> },
): Promise<void> {
  const { agentUrl, mode, ports } = settings;
  for (const release of releases) {
    const serving = {
      release,
      shapes: await shapesOf(release),
      tools: answered,
      specialisms,
      agentUrl,
      mode,
      ports,
      formats: await offeredFormats(settings),
      version: shortVersion(release.version),
      word: release.word,
    };
    const own = typeof capabilities === "function" ? capabilities(release) : capabilities;
    const areas = declaredBy(served, serving, release.word);
    // What the application tries out stands beside what the library does.
    into.set(release.version, { ...merge(areas, own), ...triedBy([areas, own]) });
  }
}
