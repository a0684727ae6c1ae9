/** What the demo's registry starts with: publishers, their properties, and who may sell them. Made from a seed. */
import { writeFileSync } from "node:fs";
import type { TransferLine } from "../../runtime/registry/transfer/lines.js";

const kinds = ["website", "ctv_app", "mobile_app", "podcast"] as const;
const countries = ["US", "GB", "DE", "FR", "JP", "BR"] as const;
const genres = ["IAB17", "IAB1", "IAB19", "IAB9"] as const;

/** A small generator (mulberry32): one seed gives one inventory. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Writes an inventory as lines for `adbind registry import`.
 * @param sellers agents of the demo: each sells video for some publishers
 * @returns how many publishers it has
 */
export function writeInventory(file: string, sellers: readonly string[], publishers = 200): number {
  const random = randomFrom(20_261_121);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const lines: TransferLine[] = [];
  for (let at = 0; at < publishers; at++) {
    const domain = `publisher-${at}.example`;
    const other = `https://agent-${Math.floor(random() * 40)}.example/mcp`;
    const seller = sellers[at % (sellers.length * 10)];
    lines.push({
      kind: "publisher",
      domain,
      crawl: { outcome: "valid", valid: true, method: "direct", http_status: 200 },
      adagents_json: {
        properties: Array.from({ length: 1 + Math.floor(random() * 6) }, (_, n) => ({
          property_id: `property_${n}`,
          property_type: seller === undefined ? pick(kinds) : "website",
          name: `Property ${n} of ${domain}`,
          identifiers: [{ type: "domain", value: n === 0 ? domain : `p${n}.${domain}` }],
          tags: [pick(["sports", "news", "cooking", "music"])],
          supported_channels: seller === undefined ? [pick(["display", "ctv", "podcast"])] : ["olv", "ctv"],
        })),
        authorized_agents: (seller === undefined ? [other] : [other, seller]).map((url) => ({
          url,
          authorized_for: "All inventory",
          authorization_type: "publisher_properties" as const,
          publisher_properties: [{}],
          countries: [pick(countries)],
        })),
        genres: [pick(genres)],
      },
    });
  }
  lines.push({
    kind: "member",
    slug: "demo",
    display_name: "Sellers of the demo",
    agents: sellers.map((url) => ({
      url,
      type: "sales",
      visibility: "public" as const,
      delivery_types: ["guaranteed"],
    })),
  });
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  return publishers;
}
