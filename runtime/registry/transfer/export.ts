/** Gives all that a registry knows as lines, in an order that a second export can go on in. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import type { AnyStore } from "../../store/index.js";
import { hostedAfter, membersAfter } from "../../store/registry-agents.js";
import {
  claimantsAfter,
  claimsOf,
  type EdgeWithUrl,
  ownEdgesOf,
  propertiesOf,
  publishersAfter,
} from "../../store/registry-lookups.js";
import type { PropertyRow, PropertySource, PublisherRow } from "../../store/registry-publishers.js";
import { bytesOfClaims, bytesOfOwn } from "../../store/registry-sizes.js";
import { brandTold } from "../brand.js";
import type { SetProperty } from "../matching.js";
import { assemble } from "../members.js";
import { iso } from "../model.js";
import { propertyOfRow, type StoredEntry } from "../project.js";
import type { JsonValue } from "../types.js";
import { fitting, PROPERTY_BYTES } from "../weights.js";
import { agentOut, memberOut, propertyOut } from "./convert.js";
import type { AgentLine, ClaimsLine, FileLine, HostedLine, MemberLine, PublisherLine, TransferLine } from "./lines.js";

/** Rows read at a time. */
const PAGE_ROWS = 200;

type Claim = EdgeWithUrl & { readonly domain: string };

interface Section {
  readonly kind: TransferLine["kind"];
  keyOf(line: TransferLine): string;
  readonly page: (q: Query, after: string) => Coroutine<TransferLine[]>;
}

const sections = [
  {
    kind: "member",
    keyOf: ({ slug }: MemberLine) => slug,
    *page(q, after) {
      return (yield* assemble(q, yield* membersAfter(q, after, PAGE_ROWS))).map(memberOut);
    },
  },
  {
    kind: "publisher",
    keyOf: ({ domain }: PublisherLine) => domain,
    *page(q, after) {
      const rows = yield* publishersAfter(q, after, PAGE_ROWS);
      const bytes = yield* bytesSaid(q, rows);
      return yield* publisherLines(
        q,
        fitting(rows, ({ id, domain, property_count }) => property_count * PROPERTY_BYTES + bytes(id, domain)),
      );
    },
  },
  {
    kind: "hosted",
    keyOf: ({ domain }: HostedLine) => domain,
    *page(q, after) {
      const rows = yield* hostedAfter(q, after, PAGE_ROWS);
      return rows.map(
        ({ domain, file }): HostedLine => ({ kind: "hosted", domain, file: JSON.parse(file) as JsonValue }),
      );
    },
  },
  {
    kind: "claims",
    keyOf: ({ agent_url }: ClaimsLine) => agent_url,
    *page(q, after) {
      return yield* claimsLines(q, after);
    },
  },
] satisfies readonly Section[];

/**
 * Exports everything; each line stands for one moment of its record. What changes meanwhile may or may not be in it.
 * @param after the last line of an earlier export to go on after, as it was given
 */
export async function* exportRegistry(store: AnyStore, after?: TransferLine): AsyncGenerator<string> {
  const db: Database = store.database;
  const first = after === undefined ? 0 : sections.findIndex(({ kind }) => kind === after.kind);
  for (const [at, section] of (sections as readonly Section[]).entries()) {
    if (at < first) continue;
    let key = at === first && after !== undefined ? section.keyOf(after) : "";
    for (;;) {
      const from = key;
      const lines = await db.read((q) => section.page(q, from));
      for (const line of lines) yield JSON.stringify(line);
      if (lines.length === 0) break;
      key = section.keyOf(lines.at(-1)!);
    }
  }
}

/** How long the entries are that publishers have of their own, and say of others. */
function* bytesSaid(q: Query, rows: readonly PublisherRow[]): Coroutine<(id: number, domain: string) => number> {
  const own = yield* bytesOfOwn(
    q,
    rows.map(({ id }) => id),
  );
  const others = yield* bytesOfClaims(
    q,
    rows.map(({ domain }) => domain),
  );
  const bytes = new Map<number | string, number>([
    ...own.map((row) => [row.publisher, row.bytes] as const),
    ...others.map((row) => [row.claimant, row.bytes] as const),
  ]);
  return (id, domain) => (bytes.get(id) ?? 0) + (bytes.get(domain) ?? 0);
}

function* publisherLines(q: Query, rows: readonly PublisherRow[]): Coroutine<PublisherLine[]> {
  const ids = rows.map(({ id }) => id);
  const properties = Map.groupBy(yield* propertiesOf(q, ids), ({ publisher }) => publisher);
  const edges = Map.groupBy(yield* ownEdgesOf(q, ids), ({ publisher }) => publisher);
  const claims = Map.groupBy(
    yield* claimsOf(
      q,
      rows.map(({ domain }) => domain),
    ),
    ({ claimant }) => claimant,
  );
  return rows.map((row) =>
    publisherLine(row, {
      properties: properties.get(row.id) ?? [],
      edges: edges.get(row.id) ?? [],
      claims: claims.get(row.domain) ?? [],
    }),
  );
}

interface PublisherContents {
  readonly properties: readonly PropertyRow[];
  readonly edges: readonly EdgeWithUrl[];
  readonly claims: readonly Claim[];
}

function publisherLine(row: PublisherRow, { properties, edges, claims }: PublisherContents): PublisherLine {
  const digests = JSON.parse(row.digests ?? "{}") as Record<string, string>;
  const of = (source: PropertySource): Map<string, SetProperty> =>
    new Map(properties.filter((one) => one.source === source).map((one) => [one.key, propertyOfRow(one)]));
  const speaks = row.valid === 1 ? "adagents_json" : "aao_hosted";
  const file = (source: "adagents_json" | "aao_hosted"): FileLine => {
    const keyed = of(source);
    const named = edges.filter((edge) => edge.source === source).sort((a, b) => a.position - b.position);
    return {
      properties: [...keyed.values()].map(propertyOut),
      authorized_agents: named.flatMap((edge) => agentLines(edge, keyed)),
      ...(source === speaks && row.genres !== null && { genres: JSON.parse(row.genres) as string[] }),
      ...(source === speaks && row.taxonomy !== null && { genre_taxonomy: row.taxonomy }),
      ...(source === "adagents_json" &&
        claims.length > 0 && {
          others: claims.flatMap((claim) =>
            agentLines(claim, new Map()).map((agent) => ({ publisher_domain: claim.domain, agent })),
          ),
        }),
    };
  };
  const list = (source: PropertySource) => [...of(source).values()].map(propertyOut);
  const crawl = crawlOut(row);
  return {
    kind: "publisher",
    domain: row.domain,
    ...(Object.keys(crawl).length > 0 && { crawl }),
    ...((digests.adagents_json !== undefined || claims.length > 0) && { adagents_json: file("adagents_json") }),
    ...(digests.aao_hosted !== undefined && { aao_hosted: file("aao_hosted") }),
    ...(digests.discovered !== undefined && { discovered: { properties: list("discovered") } }),
    ...(row.brand_outcome === "present" && {
      brand_json: { ...brandTold(row), properties: list("brand_json") },
    }),
  };
}

const agentLines = (edge: EdgeWithUrl, keyed: ReadonlyMap<string, SetProperty>): AgentLine[] =>
  (JSON.parse(edge.entries) as StoredEntry[]).map(({ covers, ...entry }) => {
    const inline = entry.authorizationType === "inline_properties" ? (covers ?? []) : [];
    return agentOut(
      { ...entry, agentUrl: edge.url },
      inline.flatMap((key) => keyed.get(key) ?? []),
    );
  });

const crawlOut = (row: PublisherRow): NonNullable<PublisherLine["crawl"]> => ({
  ...(row.outcome !== null && { outcome: row.outcome as "valid" }),
  ...(row.valid !== null && { valid: row.valid === 1 }),
  ...(row.method !== null && { method: row.method as "direct" }),
  ...(row.manager_domain !== null && { manager_domain: row.manager_domain }),
  ...(row.crawled_at !== null && { crawled_at: iso(row.crawled_at) }),
  ...(row.validated_at !== null && { validated_at: iso(row.validated_at) }),
  ...(row.http_status !== null && { http_status: row.http_status }),
  ...(row.bytes !== null && { bytes: row.bytes }),
  ...(row.resolved_url !== null && { resolved_url: row.resolved_url }),
});

function* claimsLines(q: Query, after: string): Coroutine<ClaimsLine[]> {
  const claimants = (yield* claimantsAfter(q, after, PAGE_ROWS)).map(({ claimant }) => claimant);
  const claims = Map.groupBy(yield* claimsOf(q, claimants), ({ claimant }) => claimant);
  return claimants.map((claimant) => ({
    kind: "claims",
    agent_url: claimant,
    claims: (claims.get(claimant) ?? []).map(({ domain, authorized_for }) => ({
      publisher_domain: domain,
      ...(authorized_for !== null && { authorized_for }),
    })),
  }));
}
