/** What a crawl may find, and registries on both databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AgentEntry, CrawlResult, Member, MemberAgent, PropertyRecord } from "../../runtime/registry/types.js";
import { openPostgresStore, openSqliteStore, type PostgresStore, type SqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";

export const NOW = 1_776_520_800_000;
export const SELLER = "https://seller.example/mcp";
export const OTHER = "https://other.example/mcp";

export const property = (id: string | null, more: Partial<PropertyRecord> = {}): PropertyRecord => ({
  id,
  type: "website",
  name: id ?? "Unnamed",
  identifiers: [{ type: "domain", value: `${id ?? "unnamed"}.news.example` }],
  tags: [],
  ...more,
});

export const entry = (agentUrl: string, more: Partial<AgentEntry> = {}): AgentEntry => ({
  agentUrl,
  authorizedFor: "All inventory",
  authorizationType: null,
  ...more,
});

type FileParts = Partial<NonNullable<CrawlResult["adagents"]["file"]>>;

/** A crawl that found a valid file and no brand file. */
export const crawl = (
  domain: string,
  file: FileParts,
  more: { adagents?: Partial<CrawlResult["adagents"]>; brand?: Partial<CrawlResult["brand"]>; at?: number } = {},
): CrawlResult => ({
  domain,
  crawledAt: more.at ?? NOW,
  adagents: {
    outcome: "valid",
    method: "direct",
    managerDomain: null,
    httpStatus: 200,
    bytes: 1000,
    resolvedUrl: null,
    problems: [],
    file: { agents: [], properties: [], genres: [], genreTaxonomy: null, lastUpdated: null, others: [], ...file },
    ...more.adagents,
  },
  brand: { outcome: "absent", name: null, properties: [], agents: [], ...more.brand },
});

/** A crawl that found no usable file. */
export const failed = (
  domain: string,
  outcome: "invalid" | "absent" | "unreachable",
  httpStatus: number | null,
): CrawlResult => {
  const { file: _, ...adagents } = crawl(domain, {}).adagents;
  return { ...crawl(domain, {}), adagents: { ...adagents, outcome, httpStatus, bytes: null } };
};

export const agent = (url: string, more: Partial<MemberAgent> = {}): MemberAgent => ({
  url,
  name: null,
  type: "sales",
  visibility: "public",
  deliveryTypes: [],
  formatKinds: [],
  hasTmp: false,
  ...more,
});

export const member = (slug: string, more: Partial<Member> = {}): Member => ({
  slug,
  organization: null,
  displayName: slug,
  tier: null,
  founding: false,
  isPublic: true,
  domains: [],
  agents: [],
  ...more,
});

export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** An empty store; closed at the end. */
  open(): Promise<SqliteStore | PostgresStore>;
  /** Another connection to the store opened last, as another instance has it. */
  again(): Promise<SqliteStore | PostgresStore>;
  /** Of the store opened last. */
  url(): string;
  stop(): Promise<void>;
}

export function sqliteEngine(): Engine {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-registry-"));
  const opened: SqliteStore[] = [];
  let count = 0;
  const add = (): SqliteStore => {
    const store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
    opened.push(store);
    return store;
  };
  return {
    name: "sqlite",
    async open() {
      count += 1;
      return add();
    },
    again: async () => add(),
    url: () => `sqlite:${path.join(folder, `${count}.db`)}`,
    async stop() {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function postgresEngine(): Promise<Engine> {
  const postgres = await sharedPostgres();
  const opened: PostgresStore[] = [];
  let url = "";
  const add = async (): Promise<PostgresStore> => {
    const store = await openPostgresStore({ url, connections: 4 });
    opened.push(store);
    return store;
  };
  return {
    name: "postgres",
    async open() {
      url = await postgres.database();
      return add();
    },
    again: add,
    url: () => url,
    async stop() {
      for (const store of opened) await store.close();
      await postgres.stop();
    },
  };
}
