/** An account's feed of changes, read by who was away: each row is an event, handled once whether it was pushed or not. */
import { hash } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import { isStorableId } from "../contract/storable-id.js";
import { member } from "../extract/json-object.js";
import type { RouteBinding } from "../store/types.js";
import type { Ingest } from "./ingest.js";
import { timeOf } from "./instant.js";
import type { ReceiverConfig } from "./settings.js";

/** One page of `list_account_changes`. */
export interface ChangePage {
  readonly changes: readonly JsonObject[];
  readonly cursor: string;
  readonly has_more: boolean;
}

/** Which account's changes to read, from which cursor. */
export interface FeedOptions {
  /** The seller's agent URL. */
  readonly sender: string;
  readonly account: string;
  /** Where the reader was; from the oldest that is kept without one. */
  readonly cursor?: string;
  /** Asks the seller for what follows a cursor. */
  readonly list: (cursor: string | undefined) => Promise<ChangePage>;
  /** Version of the release the sender speaks; its configured one by default. */
  readonly release?: string;
  /** Pages read at most. Default 1,000. */
  readonly maxPages?: number;
}

/** What was read: where to go on, how many were accepted, whether there is more. */
export interface FeedRead {
  /** To begin with the next time: everything before it is in the inbox. */
  readonly cursor: string | undefined;
  /** Rows that had not come by a webhook. */
  readonly accepted: number;
  /** The seller has more: `maxPages` was reached. */
  readonly more: boolean;
}

const MAX_PAGES = 1_000;

/**
 * Reads a feed to its end. A row is an `account.change_recorded` of its `change_id`; the row itself is in `ext.change`.
 * @throws what `list` rejects with, or what the store meets; what was read until then is kept
 */
export async function readFeed<Tx>(
  config: ReceiverConfig<Tx>,
  ingest: Ingest,
  options: FeedOptions,
): Promise<FeedRead> {
  let { cursor } = options;
  let accepted = 0;
  let more = true;
  for (let page = 0; more && page < (options.maxPages ?? MAX_PAGES); page++) {
    const read = await options.list(cursor);
    for (const change of read.changes) accepted += await ingestChange(config, ingest, options, change);
    ({ cursor, has_more: more } = read);
  }
  return { cursor, accepted, more };
}

async function ingestChange<Tx>(
  config: ReceiverConfig<Tx>,
  ingest: Ingest,
  { sender, account, release }: FeedOptions,
  change: JsonObject,
): Promise<number> {
  const { change_id: id, recorded_at: at, resource, action } = change;
  if (typeof id !== "string" || typeof at !== "string")
    throw new TypeError("the feed gave a row without an id or a time");
  // The same on every instance that reads it.
  const key = `feed:${hash("sha256", JSON.stringify([account, id]), "base64url")}`;
  const body = {
    idempotency_key: key,
    notification_id: id,
    notification_type: "account.change_recorded",
    fired_at: at,
    subscriber_id: "feed",
    account_id: account,
    ...{ change_id: id, recorded_at: at, resource, action, ext: { change } },
  };
  const binding: RouteBinding = {
    ...{ route: "feed", sender, kind: "account", mode: "signature", format: null },
    release: release ?? config.senderOf(sender)?.release ?? null,
  };
  const registered = { operationId: null, taskType: null, tokenDigest: null, events: null, expires: null };
  const { outcome } = await ingest(
    {
      ...{ binding, body, token: null, raw: Buffer.from(JSON.stringify(body)) },
      envelope: {
        ...{ key, format: null, taskId: null, taskType: null, operationId: null, status: null },
        ...{ time: timeOf(member(change, "recorded_at"), config.now()) },
        // What no database stores as it is stays in the body; the change is known by a digest.
        ...{ notificationId: isStorableId(id) ? id : null, token: null },
        ...{ ordered: false, terminal: false, payload: null },
      },
    },
    { ...binding, ...registered },
  );
  if (outcome === "accepted") return 1;
  if (outcome !== "duplicate") throw new Error(`a change could not be kept: ${outcome}`);
  return 0;
}
