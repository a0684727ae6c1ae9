/**
 * What others say of a publisher: claims. Anybody may make any number, of megabytes each, and none of them authorizes anything; so
 * few are read, and what is long in them is left where it is.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import type { EdgeFacts, EdgeWithUrl } from "./registry-lookups.js";
import type { EdgeRow } from "./registry-publishers.js";

/**
 * Entries in short: whether one is in effect, and of all the publisher has. That is all a claim is asked for: what it names besides is
 * not the publisher's word.
 */
export const ENTRIES_IN_SHORT =
  "case when wide = 1 then '[{\"covers\":null}]' when coverage is not null then '[{\"covers\":[]}]' else '[]' end";

const columns = (entries: string): string =>
  `publisher, source, agent, claimant, position, authorized_for, ${entries} as entries, countries, wide, covered, coverage, changes_at`;

/** The first claims about a publisher, in short. */
export const claimsAt = (q: Query, publisher: number, limit: number): Coroutine<EdgeWithUrl[]> =>
  q.rows(
    `select a.*, g.url from (select ${columns(ENTRIES_IN_SHORT)} from adbind_registry_authorizations ` +
      "where publisher = ? and source = 'agent_claim' order by publisher, source, agent, claimant limit ?) a " +
      "join adbind_registry_agents g on g.id = a.agent",
    [publisher, limit],
  );

/** The first claims about a publisher, as they are worked out. */
export const claimFactsAt = (q: Query, publisher: number, limit: number): Coroutine<EdgeFacts[]> =>
  q.rows(
    "select a.source, a.authorized_for, a.wide, a.covered, a.stands, null as entries, g.url from (select publisher, source, agent, " +
      "claimant, authorized_for, wide, covered, case when wide = 1 or coverage is not null then 1 else 0 end as stands " +
      "from adbind_registry_authorizations where publisher = ? and source = 'agent_claim' order by publisher, source, agent, claimant " +
      "limit ?) a join adbind_registry_agents g on g.id = a.agent",
    [publisher, limit],
  );

/** Bytes of a claim's entries that are told as they are. */
const TOLD_BYTES = 50_000;

/** The first claims about a publisher and one agent; of a long one what it names is left out. */
export const claimsBetween = (q: Query, agent: number, publisher: number, limit: number): Coroutine<EdgeRow[]> =>
  q.rows(
    `select ${columns(`case when octet_length(entries) <= ${TOLD_BYTES} then entries else ${ENTRIES_IN_SHORT} end`)} ` +
      "from adbind_registry_authorizations where publisher = ? and source = 'agent_claim' and agent = ? " +
      "order by publisher, source, agent, claimant limit ?",
    [publisher, agent, limit],
  );

/**
 * Removes what others say of some publishers. Who is writing his claims is not waited for, since he may hold what others wait for that
 * this transaction has: of those nothing is removed.
 * @returns how many claims
 */
export const removeClaimsAbout = (q: Query, publishers: readonly number[]): Coroutine<number> =>
  q.run(
    "delete from adbind_registry_authorizations where (publisher, source, agent, claimant) in " +
      "(select publisher, source, agent, claimant from adbind_registry_authorizations where source = 'agent_claim' and " +
      `${q.dialect.among("publisher", "bigint")}${q.dialect.forUpdateFree})`,
    [q.dialect.list(publishers)],
  );

/** Who says something of some publishers: names of files' publishers, and of agents. */
export function* claimantsAbout(q: Query, publishers: readonly number[]): Coroutine<string[]> {
  const rows = yield* q.rows<{ claimant: string }>(
    `select distinct claimant from adbind_registry_authorizations where source = 'agent_claim' and ${q.dialect.among("publisher", "bigint")}`,
    [q.dialect.list(publishers)],
  );
  return rows.map(({ claimant }) => claimant);
}
