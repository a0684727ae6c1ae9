/** How long what publishers say is, before it is read. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

/** Bytes of the entries of what publishers, or files hosted for them, say of agents. */
export const bytesOfOwn = (
  q: Query,
  publishers: readonly number[],
): Coroutine<{ readonly publisher: number; readonly bytes: number }[]> =>
  q.rows(
    `select publisher, sum(octet_length(entries)) as bytes from adbind_registry_authorizations ` +
      `where ${q.dialect.among("publisher", "bigint")} and source in ('aao_hosted', 'adagents_json') group by publisher`,
    [q.dialect.list(publishers)],
  );

/** Bytes of the entries of what claimants say of others. */
export const bytesOfClaims = (
  q: Query,
  claimants: readonly string[],
): Coroutine<{ readonly claimant: string; readonly bytes: number }[]> =>
  q.rows(
    `select claimant, sum(octet_length(entries)) as bytes from adbind_registry_authorizations ` +
      `where claimant <> '' and ${q.dialect.among("claimant", "text")} group by claimant`,
    [q.dialect.list(claimants)],
  );
