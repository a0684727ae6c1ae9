/**
 * The feed of an account's changes (`list_account_changes`): written in the change's own transaction, whether or not anybody
 * is told of it by a webhook, and read by cursor by whoever was away.
 */
import { hash, randomUUID } from "node:crypto";
import canonicalize from "canonicalize";
import { type AnyTool, isJsonObject, type JsonObject, type MaybePromise } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import type { Sender } from "../sender/sender.js";
import { appendChange, changesAfter, feedEnds } from "../store/account-changes.js";
import { refuseSeveral } from "../store/alone.js";
import type { AnyStore } from "../store/index.js";
import { ToolError } from "./tool-error.js";
import type { SellerContext, SellerHandler } from "./types.js";

/** A change as its author states it; see `core/account-change.json` of the release. */
export interface AccountChange {
  readonly account: string;
  /** Whose account it is, where ids are a caller's own (`ownIds`): nobody else reads of the change, or is told of it. */
  readonly principal?: string;
  readonly resource: { readonly type: string; readonly resource_id: string; readonly [more: string]: unknown };
  /** `created`, `updated`, `deleted`: a word of the seller's. */
  readonly action: string;
  readonly origin: { readonly kind: string; readonly [more: string]: unknown };
  /** The tool by which a reader sees the state it is in now. */
  readonly repair: { readonly task: string; readonly [more: string]: unknown };
  /** Random by default. */
  readonly changeId?: string;
  /** Further members of the row. */
  readonly more?: JsonObject;
}

/** The feed of an account's changes: recorded by the seller, read by its tool. */
export interface AccountChanges<Tx> {
  /**
   * Records a change in the transaction that makes it; those who asked for `account.change_recorded` are told of it in the
   * same one. On SQLite the answer is no promise.
   * @throws AdbindError `transaction_invalid` for a transaction of another database than the store's, or none; `name_invalid`
   * for an account of more than 2,500 bytes
   */
  record(change: AccountChange, tx: Tx): MaybePromise<{ readonly changeId: string }>;
  /** Answers `list_account_changes`. */
  readonly handler: SellerHandler<AnyTool, Tx>;
}

/** Where an account's changes are kept, and for how many days. */
export interface AccountChangeOptions {
  readonly store: AnyStore;
  /**
   * The account a caller means by the `account` of its request, by the seller's own id.
   * @returns undefined where there is none, or the caller may not read it
   */
  readonly accountOf: (account: JsonObject, principal: string) => MaybePromise<string | undefined>;
  /** Two callers may have an account of one id, and each its own changes: every change names its `principal`. Default false. */
  readonly ownIds?: boolean;
  /** Tells of each change; nobody is told without one. */
  readonly sender?: Pick<Sender, "notifications">;
  /** Days that changes are kept: at least 90, which is the default. */
  readonly days?: number;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  /** Makes ids of changes: UUID v4 by default. */
  readonly uuid?: () => string;
}

const DAY_MS = 86_400_000;
/** Days that a feed reaches back, at least (`account.change_feed`). */
const DAYS = 90;
const PAGE = { default: 50, max: 100 } as const;
const KIND = "account.change_recorded";

/**
 * Makes the feed of a seller's accounts: give its `handler` to `createSeller` as `list_account_changes`.
 * @throws AdbindError `split_invalid` for a store of several databases
 */
export function createAccountChanges<Tx>(options: AccountChangeOptions): AccountChanges<Tx> {
  const { sender, now = Date.now, uuid = randomUUID } = options;
  refuseSeveral(options.store, "a feed of account changes keeps them in one database", "store");
  const database = options.store.database as Database as Database<Tx>;
  const keptMs = Math.max(options.days ?? DAYS, DAYS) * DAY_MS;
  return {
    record(change, tx) {
      const changeId = change.changeId ?? uuid();
      const at = now();
      return database.within(tx, function* (q): Coroutine<{ changeId: string }> {
        const row = rowOf(change, changeId, at);
        const resourceType = change.resource.type;
        yield* appendChange(q, {
          ...{ account: feedOf(change), changeId, resourceType, body: JSON.stringify(row) },
          ...{ now: at, expires: at + keptMs },
        });
        if (sender !== undefined) yield* wait(tell(sender, change, row, tx));
        return { changeId };
      });
    },
    handler: async (request: JsonObject, ctx: SellerContext<AnyTool, Tx>) => {
      const asked = isJsonObject(request.account) ? request.account : {};
      const account = await options.accountOf(asked, ctx.principal);
      if (account === undefined)
        throw new ToolError("ACCOUNT_NOT_FOUND", "There is no such account.", { field: "account" });
      const { principal } = ctx;
      const feed = feedOf({ account, ...(options.ownIds === true && { principal }) });
      const page = await database.write((q) => pageOf(q, { feed, request, principal, now: now() }));
      return ctx.complete(page);
    },
  };
}

/** What a feed is kept under. */
const feedOf = ({ account, principal }: Pick<AccountChange, "account" | "principal">): string =>
  principal === undefined ? account : JSON.stringify([principal, account]);

const iso = (ms: number): string => new Date(ms).toISOString();

const rowOf = (
  { account, resource, action, origin, repair, more }: AccountChange,
  id: string,
  at: number,
): JsonObject => ({
  ...more,
  change_id: id,
  recorded_at: iso(at),
  resource: { ...resource, account_id: account },
  action,
  origin,
  repair,
});

function tell(
  { notifications }: Pick<Sender, "notifications">,
  { account, principal, resource, action }: AccountChange,
  { change_id: id, recorded_at }: JsonObject,
  tx: unknown,
) {
  const body = { change_id: id, recorded_at, resource, action };
  const event = { kind: KIND, account, ...(principal && { principal }), notificationId: String(id), body };
  return notifications.notify(event, { tx: tx as object });
}

interface Asked {
  readonly feed: string;
  readonly request: JsonObject;
  readonly principal: string;
  readonly now: number;
}

function* pageOf(q: Query, { feed, request, principal, now }: Asked): Coroutine<JsonObject> {
  const types = Array.isArray(request.resource_types) ? (request.resource_types as string[]) : [];
  const scope = hash("sha256", canonicalize([principal, feed, types.toSorted()])!, "base64url");
  const ends = yield* feedEnds(q, feed);
  const after = positionOf(request, scope, ends);
  const limit = typeof request.max_results === "number" ? Math.min(request.max_results, PAGE.max) : PAGE.default;
  const rows = yield* changesAfter(q, { account: feed, after, types, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const more = rows.length > limit;
  // What is of other types is behind the reader too, once there is nothing more of its own.
  const at = more ? shown.at(-1)!.seq : Math.max(after, ends.last);
  return {
    changes: shown.map(({ body }) => JSON.parse(body) as JsonObject),
    cursor: cursorOf(scope, at),
    has_more: more,
    available_since: iso(ends.firstAt ?? now),
    generated_at: iso(now),
  };
}

const cursorOf = (scope: string, at: number): string => Buffer.from(JSON.stringify([scope, at])).toString("base64url");

const wrongCursor = (): ToolError =>
  new ToolError("INVALID_REQUEST", "The cursor is not of this account, caller and filter.", { field: "cursor" });

/** @throws ToolError `INVALID_REQUEST` for another feed's cursor, `CURSOR_EXPIRED` where what follows is kept no longer */
function positionOf(
  { cursor, starting_position: start }: JsonObject,
  scope: string,
  { last, before }: { readonly last: number; readonly before: number },
): number {
  if (cursor === undefined) return start === "latest" ? last : before;
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
  } catch {
    throw wrongCursor();
  }
  const [of, at] = Array.isArray(read) ? (read as unknown[]) : [];
  if (of !== scope || !Number.isSafeInteger(at) || (at as number) < 0 || (at as number) > last) throw wrongCursor();
  if ((at as number) < before) {
    throw new ToolError("CURSOR_EXPIRED", "What follows the cursor is kept no longer: begin anew at `latest`.", {
      field: "cursor",
    });
  }
  return at as number;
}
