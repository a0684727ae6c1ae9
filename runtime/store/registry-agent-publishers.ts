/** An agent's publishers. Whoever has a file may be one of them, with megabytes of what it says of the agent. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { ENTRIES_IN_SHORT } from "./registry-claims.js";
import type { EdgeRow, EdgeSource } from "./registry-publishers.js";

export interface AgentEdgeRow extends Pick<EdgeRow, "publisher" | "source" | "authorized_for"> {
  /** As an edge has them, of a claim in short; null where those of the rows before have taken the room. */
  readonly entries: string | null;
  readonly domain: string;
  readonly method: string | null;
  readonly manager_domain: string | null;
  readonly validated_at: number | null;
  readonly property_count: number;
  readonly valid: number | null;
}

/** One whose entries were read. */
export interface ReadEdgeRow extends AgentEdgeRow {
  readonly entries: string;
}

/** Claims looked at of one agent: anybody may make any number. */
const AGENT_CLAIMS = 1_000;
/** Of entries read at once, in bytes; those of the first row are read whatever they have. */
const ENTRIES_BYTES = 8_000_000;

export interface AgentPublishersQuery {
  readonly agent: number;
  /** Domain and source of the last row seen. */
  readonly domain: string;
  readonly after: string;
  readonly limit: number;
  readonly source: EdgeSource | null;
}

/** Without entries: those are looked up for the rows that are told. */
const EDGE =
  "a.publisher, a.source, a.agent, a.claimant, a.authorized_for, case when a.source = 'agent_claim' then 0 else octet_length(a.entries) end as bytes";

/** By domain: one row per source, hosted files left out where the publisher's own is valid. */
const FOUND =
  `select ${EDGE}, p.domain, p.method, p.manager_domain, p.validated_at, p.property_count, p.valid from (` +
  "select * from adbind_registry_authorizations where agent = ? and source <> 'agent_claim' union all select * from (" +
  "select * from adbind_registry_authorizations where agent = ? and source = 'agent_claim' order by agent, publisher limit ?) c" +
  ") a join adbind_registry_publishers p on p.id = a.publisher " +
  "where (p.domain, a.source) > (?, ?) and (cast(? as text) is null or a.source = ?) " +
  "and (a.source <> 'aao_hosted' or coalesce(p.valid, 0) <> 1) and not exists (select 1 from adbind_registry_authorizations o " +
  "where o.publisher = a.publisher and o.source = a.source and o.agent = a.agent and o.claimant < a.claimant) " +
  "order by p.domain, a.source limit ?";

const valuesOf = (given: AgentPublishersQuery) => [
  ...[given.agent, given.agent, AGENT_CLAIMS, given.domain, given.after],
  ...[given.source, given.source, given.limit],
];

const withEntries = (entries: string): string =>
  `select f.publisher, f.source, f.authorized_for, f.domain, f.method, f.manager_domain, f.validated_at, f.property_count, f.valid, ` +
  `${entries} as entries from (select r.*, sum(r.bytes) over (order by r.domain, r.source rows unbounded preceding) as sum from (${FOUND}) r) f ` +
  "join adbind_registry_authorizations e on e.publisher = f.publisher and e.source = f.source and e.agent = f.agent " +
  "and e.claimant = f.claimant order by f.domain, f.source";

const WHOLE = withEntries(
  `case when e.source = 'agent_claim' then ${ENTRIES_IN_SHORT} when f.sum <= ${ENTRIES_BYTES} or f.sum = f.bytes then e.entries end`,
);
const SHORT = withEntries(ENTRIES_IN_SHORT);

/** An agent's publishers, with what they say as far as there is room for it. */
export const publishersOfAgent = (q: Query, given: AgentPublishersQuery): Coroutine<AgentEdgeRow[]> =>
  q.rows(WHOLE, valuesOf(given));

/** An agent's publishers, with what they say in short. */
export const publishersNamingAgent = (q: Query, given: AgentPublishersQuery): Coroutine<ReadEdgeRow[]> =>
  q.rows(SHORT, valuesOf(given));
