/** Made-up profiles for a search's index, and what is searched among them. */
import type { IndexedProfile } from "../../runtime/registry/search/agent-index.js";
import type { SearchFilters } from "../../runtime/registry/types.js";
import { numbers } from "../../test/support/random.js";

const channels = Array.from({ length: 20 }, (_, at) => `channel-${at}`);
const types = Array.from({ length: 10 }, (_, at) => `type-${at}`);
const markets = Array.from({ length: 60 }, (_, at) => `M${at}`);
const tags = Array.from({ length: 2_000 }, (_, at) => `tag-${at}`);

export interface MadeProfiles {
  profile(agent: number): IndexedProfile;
  /** The filters of the n-th search: most have one or two, some none. */
  filters(at: number): SearchFilters;
}

/** Values are drawn unevenly: the first of each kind are with many agents. @param born clock at which all have come */
export function madeProfiles(seed: number, born: number): MadeProfiles {
  const random = numbers(seed);
  const draw = (limit: number): number => Math.floor(random() * limit);
  const some = (values: readonly string[], most: number): string[] => [
    ...new Set(Array.from({ length: 1 + draw(most) }, () => values[Math.floor(values.length * random() ** 2)]!)),
  ];
  return {
    profile(agent) {
      const propertyCount = Math.floor(1000 ** random());
      const hasTmp = random() < 0.1;
      return {
        agent,
        url: `https://agent-${agent}.seller-${agent % 100_000}.example/mcp`,
        registered: random() < 0.5,
        score: 0.1 * Math.log(propertyCount + 1) + (hasTmp ? 0.05 : 0),
        propertyCount,
        publisherCount: 1 + draw(20),
        hasTmp,
        taxonomy: null,
        lists: [some(channels, 3), some(types, 2), some(markets, 4), [], some(tags, 4), ["guaranteed"], []],
        updatedAt: born,
        born,
      };
    },
    filters: (at) => ({
      ...(at % 2 === 0 && { channels: some(channels, 2) }),
      ...(at % 3 === 0 && { markets: some(markets, 2) }),
      ...(at % 5 === 0 && { tags: some(tags, 2) }),
      ...(at % 7 === 0 && { has_tmp: true }),
    }),
  };
}
