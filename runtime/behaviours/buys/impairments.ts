/** A creative that goes off the air holds its packages back: the buys say so, and their buyers hear of it. */
import type { BehaviourCall } from "../frame/call.js";
import { recordChange } from "../frame/changes.js";
import { written } from "../frame/effects.js";
import { type Creative, findCreative, keepCreative, mayUse } from "../library/creatives.js";
import {
  type BuyImpairment,
  type BuyPackage,
  buyState,
  buysOf,
  type MediaBuy,
  saveBuy,
  serves,
  terminalStates,
} from "./buys.js";

interface Offline {
  readonly to: string;
  readonly reason_code: string;
  readonly reason?: string;
}

/** What takes a creative from the air, as an impairment names it: `withdrawn` is a state of catalogue items only. */
const offline: Readonly<Partial<Record<Creative["status"], Offline>>> = {
  rejected: { to: "rejected", reason_code: "content_rejected" },
  suspended: { to: "suspended", reason_code: "policy_violation" },
  archived: { to: "suspended", reason_code: "seller_removed", reason: "The creative was archived." },
};

/** Keeps a creative; the buys it is in are told when its state has changed. */
export async function saveCreative(call: BehaviourCall, creative: Creative): Promise<void> {
  const before = (await findCreative(call, creative.creative_id))?.status;
  keepCreative(call, creative);
  const action = before === undefined ? "created" : "updated";
  recordChange(call, { account: creative.account_id, type: "creative", id: creative.creative_id, action });
  if (before === undefined || before === creative.status) return;
  for (const buy of await buysOf(call)) {
    if (!mayUse(buy.account_id, creative) || terminalStates.has(await buyState(call, buy))) continue;
    const changed = await afterCreative(call, buy, creative);
    if (changed !== undefined) await saveBuy(call, changed);
  }
}

/**
 * The buy as a change of one of its creatives leaves it, and the event that says so; undefined where it changes nothing.
 * A closing event has the id of the opening one. All of it is stored in the transaction that makes it so.
 */
async function afterCreative(
  call: BehaviourCall,
  buy: MediaBuy,
  { creative_id, status, rejection_reason: reason }: Creative,
): Promise<MediaBuy | undefined> {
  // A package that has another to show is served all the same: nobody is told of it.
  const held = new Set<BuyPackage>();
  for (const one of buy.packages) {
    const ids = one.creative_assignments.map((each) => each.creative_id);
    const serving = await Promise.all(ids.map((id) => serves(call, id, buy.account_id)));
    if (ids.includes(creative_id) && !serving.includes(true)) held.add(one);
  }
  const now = offline[status];
  const state = now && { ...now, ...(reason !== undefined && { reason }) };
  return afterResource(call, buy, { type: "creative", id: creative_id, uses: (one) => held.has(one), offline: state });
}

/** What packages of buys depend on, as it is now. */
export interface Dependency {
  readonly type: BuyImpairment["resource_type"];
  readonly id: string;
  /** Whose it is, where ids are one account's; any of the caller's where left out. */
  readonly account?: string;
  readonly uses: (one: BuyPackage) => boolean;
  /** Undefined where it can be used. */
  readonly offline: Offline | undefined;
}

/** The caller's live buys are told that something they depend on goes off the air, or is back. */
export async function toldOf(call: BehaviourCall, dependency: Dependency): Promise<void> {
  for (const buy of await buysOf(call)) {
    if (dependency.account !== undefined && buy.account_id !== dependency.account) continue;
    if (terminalStates.has(await buyState(call, buy))) continue;
    const changed = afterResource(call, buy, dependency);
    if (changed !== undefined) await saveBuy(call, changed);
  }
}

function afterResource(call: BehaviourCall, buy: MediaBuy, of: Dependency): MediaBuy | undefined {
  const packages = buy.packages.filter((one) => one.canceled !== true && of.uses(one)).map((one) => one.package_id);
  const open = (buy.impairments ?? []).find((one) => one.resource_type === of.type && one.resource_id === of.id);
  const others = (buy.impairments ?? []).filter((one) => one !== open);
  const isOffline = of.offline !== undefined;
  if (isOffline ? packages.length === 0 || open !== undefined : open === undefined) return undefined;
  const impairment = isOffline ? opened(call, of, packages) : { ...open!, resolved_at: call.time };
  const { sender } = call.ctx;
  if (sender !== undefined) {
    const event = { notificationId: impairment.impairment_id, eventType: "brand_safety", impairment };
    call.ctx.effect((tx) =>
      written(sender.channels.impairment(buy.media_buy_id, event, { tx, principal: call.principal })),
    );
  }
  return { ...buy, impairments: isOffline ? [...others, impairment] : others };
}

const opened = (
  call: BehaviourCall,
  { type, id, offline: state }: Dependency,
  packages: readonly string[],
): BuyImpairment => ({
  impairment_id: call.id("imp"),
  resource_type: type,
  resource_id: id,
  package_ids: packages,
  transition: { to: state?.to },
  reason_code: state?.reason_code,
  ...(state?.reason !== undefined && { reason: state.reason }),
  observed_at: call.time,
});
