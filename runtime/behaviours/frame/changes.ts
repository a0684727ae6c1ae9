/** Changes of what an account has, written down for whoever was away: where the feed is served, and the release has one. */
import { type AccountChange, createAccountChanges } from "../../seller/account-changes.js";
import type { AnyStore } from "../../store/index.js";
import type { BehaviourCall } from "./call.js";
import { written } from "./effects.js";

/** Area that serves the feed. */
export const FEED = "account-changes";

const TOOL = "list_account_changes";

/** The feed of the seller's accounts, as one call has it. */
export const accountFeed = (call: BehaviourCall, accountOf: Parameters<typeof createAccountChanges>[0]["accountOf"]) =>
  createAccountChanges<object>({
    // Who serves the feed is on one database.
    store: call.place as AnyStore,
    accountOf,
    // Who opens accounts may give those of two callers one id.
    ownIds: true,
    ...(call.ctx.sender !== undefined && { sender: call.ctx.sender }),
    now: call.ctx.now,
    uuid: call.ctx.uuid,
  });

/** Kinds of resources whose changes are recorded, and the tool that shows each as it is now. */
export const recorded = {
  account: "list_accounts",
  media_buy: "get_media_buys",
  creative: "list_creatives",
} as const;

export interface RecordedChange {
  /** The seller's own id. */
  readonly account: string;
  readonly type: keyof typeof recorded;
  readonly id: string;
  readonly action: "created" | "updated" | "deleted";
}

/** Records a change in the transaction that makes it. */
export function recordChange(call: BehaviourCall, { account, type, id, action }: RecordedChange): void {
  if (!call.served.has(FEED) || !call.shapes.offers(TOOL) || account === "") return;
  const change: AccountChange = {
    account,
    principal: call.principal,
    resource: { type, resource_id: id },
    action,
    origin: { kind: call.release.word },
    repair: { task: recorded[type] },
  };
  const feed = accountFeed(call, () => undefined);
  call.ctx.effect((tx) => written(feed.record(change, tx)));
}
