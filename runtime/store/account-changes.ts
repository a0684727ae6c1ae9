/** Changes of accounts, in the order of their commits. */
import type { Coroutine } from "../db/coroutine.js";
import { checkIndexNames } from "../db/names.js";
import type { Query } from "../db/types.js";

export interface AccountChangeRow {
  readonly seq: number;
  readonly body: string;
}

/** Where a feed begins and ends. */
export interface FeedEnds {
  /** The number of the newest change; 0 where there was none. */
  readonly last: number;
  /** The number before the oldest that is kept. */
  readonly before: number;
  /** When the first was recorded, unix milliseconds; null where there was none. */
  readonly firstAt: number | null;
}

export interface NewAccountChange {
  readonly account: string;
  readonly changeId: string;
  readonly resourceType: string;
  readonly body: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly expires: number;
}

/**
 * Appends a change; until the transaction ends nobody else appends to the account's.
 * @throws AdbindError `name_invalid` for an account that no index takes
 */
export function* appendChange(q: Query, change: NewAccountChange): Coroutine<void> {
  const { account, changeId, resourceType, body, now, expires } = change;
  checkIndexNames({ account });
  const [feed] = yield* q.rows<{ last: number }>(
    "insert into adbind_account_feeds (account, last, first_at) values (?, 1, ?) " +
      "on conflict (account) do update set last = adbind_account_feeds.last + 1 returning last",
    [account, now],
  );
  yield* q.rows(
    "insert into adbind_account_changes (account, seq, change_id, resource_type, body, expires) values (?, ?, ?, ?, ?, ?)",
    [account, feed!.last, changeId, resourceType, body, expires],
  );
}

export function* feedEnds(q: Query, account: string): Coroutine<FeedEnds> {
  const [feed] = yield* q.rows<{ last: number; first_at: number }>(
    "select last, first_at from adbind_account_feeds where account = ?",
    [account],
  );
  if (feed === undefined) return { last: 0, before: 0, firstAt: null };
  const [oldest] = yield* q.rows<{ seq: number | null }>(
    "select min(seq) as seq from adbind_account_changes where account = ?",
    [account],
  );
  return { last: feed.last, before: oldest?.seq == null ? feed.last : oldest.seq - 1, firstAt: feed.first_at };
}

export interface ChangeQuery {
  readonly account: string;
  /** Numbers greater than this one. */
  readonly after: number;
  /** Of these types of resources; of all where it is empty. */
  readonly types: readonly string[];
  readonly limit: number;
}

export const changesAfter = (q: Query, { account, after, types, limit }: ChangeQuery): Coroutine<AccountChangeRow[]> =>
  q.rows<AccountChangeRow>(
    "select seq, body from adbind_account_changes where account = ? and seq > ?" +
      `${types.length === 0 ? "" : ` and resource_type in (${types.map(() => "?").join(", ")})`} order by seq limit ?`,
    [account, after, ...types, limit],
  );
