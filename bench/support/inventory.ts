/**
 * A seeded inventory: publishers with properties, agents they authorize, members that registered the agents. The same seed
 * gives the same lines. Values are spread so that filters of any selectivity can be asked for: see `selective`.
 */
import type { AgentLine, MemberLine, PropertyLine, PublisherLine } from "../../runtime/registry/transfer/lines.js";
import { numbers } from "../../test/support/random.js";

export interface InventorySize {
  readonly agents: number;
  readonly publishers: number;
  readonly properties: number;
  readonly seed?: number;
}

const types = [
  "website",
  "mobile_app",
  "ctv_app",
  "podcast",
  "radio",
  "streaming_audio",
  "dooh",
  "linear_tv",
  "desktop_app",
];
const identifierTypes: Record<string, string> = {
  website: "domain",
  mobile_app: "android_package",
  ctv_app: "roku_store_id",
  podcast: "rss_url",
  radio: "station_id",
  dooh: "venue_id",
};
const countries = "US GB DE FR ES IT NL SE PL BR MX CA AU JP KR IN ZA NG AE TR".split(" ");
const AGENTS_PER_MEMBER = 100;

/** About one value in `10^rank` of the draws has the rank: rank 0 is common, rank 4 almost nowhere. */
const ranked = (random: () => number, prefix: string, spread: number): string => {
  const rank = Math.min(5, Math.floor(-Math.log10(random() + 1e-9)));
  return `${prefix}_${rank}_${Math.floor(random() * spread)}`;
};

export const agentUrl = (at: number): string => `https://agent-${at}.sellers.example/mcp`;
export const publisherDomainAt = (at: number): string => `pub-${at}.media.example`;

function propertyLine(random: () => number, publisher: number, at: number): PropertyLine {
  const type = types[Math.floor(random() ** 2 * types.length)]!;
  return {
    property_id: `prop_${at}`,
    property_type: type,
    name: `Property ${at} of publisher ${publisher}`,
    identifiers: [
      { type: identifierTypes[type] ?? "bundle_id", value: `p${at}.${publisherDomainAt(publisher)}` },
      ...(random() < 0.2 ? [{ type: "bundle_id", value: `com.media.p${publisher}.a${at}` }] : []),
    ],
    tags: [ranked(random, "tag", 8), ...(random() < 0.3 ? [ranked(random, "extra", 40)] : [])],
    ...(random() < 0.3 && { supported_channels: [random() < 0.5 ? "olv" : "gaming"] }),
  };
}

function agentLine(random: () => number, url: string, properties: readonly PropertyLine[]): AgentLine {
  const draw = random();
  const base = {
    url,
    authorized_for: "All inventory",
    ...(random() < 0.7 && {
      countries: [...new Set([countries[Math.floor(random() ** 3 * 20)]!, countries[Math.floor(random() ** 3 * 20)]!])],
    }),
  };
  if (draw < 0.6 || properties.length === 0) return base;
  if (draw < 0.8)
    return {
      ...base,
      authorization_type: "property_ids",
      property_ids: properties.filter(() => random() < 0.5).map(({ property_id }) => property_id!),
    };
  return {
    ...base,
    authorization_type: "property_tags",
    property_tags: properties.slice(0, 2).flatMap((one) => one.tags ?? []),
  };
}

/** Members with the agents, then publishers; every agent is authorized by one publisher at least. */
export function* inventory({
  agents,
  publishers,
  properties,
  seed = 1,
}: InventorySize): Generator<MemberLine | PublisherLine> {
  const random = numbers(seed);
  for (let first = 0; first < agents; first += AGENTS_PER_MEMBER)
    yield memberLine(random, first, Math.min(agents, first + AGENTS_PER_MEMBER));
  // Most publishers are small and a few are large, as it is outside; the total is what was asked for.
  const perPublisher = properties / publishers;
  let made = 0;
  for (let at = 0; at < publishers; at++) {
    const left = Math.round(perPublisher * (at + 1)) - made;
    const count = at === publishers - 1 ? properties - made : Math.max(0, Math.round(left * (0.5 + random())));
    made += count;
    const list = Array.from({ length: count }, (_, index) => propertyLine(random, at, index));
    const urls = new Set<string>();
    for (let agent = at; agent < agents; agent += publishers) urls.add(agentUrl(agent));
    const more = 1 + Math.floor(random() * 4);
    // Some agents are everywhere: the cube draws low numbers more often.
    for (let draw = 0; draw < more; draw++) urls.add(agentUrl(Math.floor(random() ** 3 * agents)));
    yield {
      kind: "publisher",
      domain: publisherDomainAt(at),
      crawl: {
        outcome: "valid",
        valid: true,
        method: "direct",
        crawled_at: "2026-03-02T10:00:00Z",
        validated_at: "2026-03-02T10:00:00Z",
        http_status: 200,
        bytes: 2_000 + count * 120,
      },
      adagents_json: {
        properties: list,
        authorized_agents: [...urls].map((url) => agentLine(random, url, list)),
        ...(random() < 0.5 && { genres: [String(1 + Math.floor(random() ** 2 * 700))] }),
      },
    };
  }
}

function memberLine(random: () => number, from: number, to: number): MemberLine {
  return {
    kind: "member",
    slug: `member-${from}`,
    display_name: `Member ${from}`,
    domains: [{ domain: `member-${from}.sellers.example`, verified: true }],
    agents: Array.from({ length: to - from }, (_, at) => ({
      url: agentUrl(from + at),
      type: "sales",
      delivery_types: random() < 0.3 ? ["guaranteed"] : ["non_guaranteed"],
      // One value for one agent in 10,000, one in 100, and three in 10: filters of a known selectivity.
      format_kinds: [
        ...(random() < 0.0001 ? ["rare"] : []),
        ...(random() < 0.01 ? ["seldom"] : []),
        ...(random() < 0.3 ? ["common"] : []),
      ],
      has_tmp: random() < 0.1,
    })),
  };
}
