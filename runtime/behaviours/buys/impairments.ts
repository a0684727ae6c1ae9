/** A creative that goes off the air holds its packages back: the buys say so, and their buyers hear of it. */
import type { BehaviourCall } from "../frame/call.js";
import { recordChange } from "../frame/changes.js";
import { written } from "../frame/effects.js";
import { type Creative, findCreative, keepCreative, mayUse } from "../library/creatives.js";
import {
  type BuyImpairment,
  type BuyPackage,
  buyIsOver,
  buysOf,
  dependsOn,
  isLivePackage,
  isServed,
  type MediaBuy,
  saveBuy,
  serves,
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

/** A creative whose state is another now. */
export interface CreativeChange {
  readonly before: Creative;
  readonly after: Creative;
}

/** Keeps a creative. @returns what the buys it is in are to be told (`toldOfCreatives`); undefined where its state is as it was */
export async function keepChanged(call: BehaviourCall, after: Creative): Promise<CreativeChange | undefined> {
  const before = await findCreative(call, after.creative_id);
  keepCreative(call, after);
  const action = before === undefined ? "created" : "updated";
  recordChange(call, { account: after.account_id, type: "creative", id: after.creative_id, action });
  return before === undefined || before.status === after.status ? undefined : { before, after };
}

/** Keeps a creative; the buys it is in are told when its state has changed. */
export async function saveCreative(call: BehaviourCall, creative: Creative): Promise<void> {
  const change = await keepChanged(call, creative);
  if (change !== undefined) await toldOfCreatives(call, [change]);
}

/**
 * The caller's live buys are told of creatives that go off the air, or are back: all that one call changes at once, since buys
 * are read and kept for each telling.
 * @param changes in the order in which they were made
 */
export async function toldOfCreatives(call: BehaviourCall, changes: readonly CreativeChange[]): Promise<void> {
  if (changes.length === 0) return;
  const buys = await liveBuys(call);
  // Each is told of when those after it were as they had been.
  const then = new Map<string, Creative>();
  for (const { before } of changes) if (!then.has(before.creative_id)) then.set(before.creative_id, before);
  for (const { after } of changes) {
    const { creative_id: id, status, rejection_reason: reason } = after;
    then.set(id, after);
    const now = offline[status];
    const state = now && { ...now, ...(reason !== undefined && { reason }) };
    for (const [buy, packages] of buys.using("creative", id)) {
      if (!mayUse(buy.account_id, after)) continue;
      const held = state === undefined ? packages : await unserved(call, buy, packages, then);
      buys.change(buy, afterResource(call, buy, { type: "creative", id, offline: state }, held));
    }
  }
  await buys.save();
}

/** Packages that have nothing to show. One that has another is served all the same: nobody is told of it. */
async function unserved(
  call: BehaviourCall,
  { account_id }: MediaBuy,
  packages: readonly BuyPackage[],
  then: ReadonlyMap<string, Creative>,
): Promise<BuyPackage[]> {
  const known = new Map<string, boolean>();
  const isServing = async (id: string): Promise<boolean> => {
    const one = then.get(id);
    const found = known.get(id) ?? (one === undefined ? await serves(call, id, account_id) : isServed(one, account_id));
    known.set(id, found);
    return found;
  };
  const held: BuyPackage[] = [];
  for (const one of packages) {
    let served = false;
    for (const { creative_id } of one.creative_assignments) served ||= await isServing(creative_id);
    if (!served) held.push(one);
  }
  return held;
}

/** Something that packages of buys depend on, as it is now. */
export interface Dependency {
  readonly type: BuyImpairment["resource_type"];
  readonly id: string;
  /** Whose it is, where ids are one account's; any of the caller's where left out. */
  readonly account?: string;
  /** Undefined where it can be used. */
  readonly offline: Offline | undefined;
}

/** The caller's live buys are told that things they depend on go off the air, or are back. */
export async function toldOf(call: BehaviourCall, dependencies: readonly Dependency[]): Promise<void> {
  if (dependencies.length === 0) return;
  const buys = await liveBuys(call);
  for (const of of dependencies)
    for (const [buy, packages] of buys.using(of.type, of.id))
      if (of.account === undefined || buy.account_id === of.account)
        buys.change(buy, afterResource(call, buy, of, packages));
  await buys.save();
}

/** Buys that are not over, with what they depend on: read once, and each kept once, however much is told of. */
async function liveBuys(call: BehaviourCall) {
  const live = (await buysOf(call)).filter((buy) => !buyIsOver(call, buy));
  const now = new Map(live.map((buy) => [buy.media_buy_id, buy]));
  const changed = new Set<string>();
  const users = new Map<Dependency["type"], ReturnType<typeof usersOf>>();
  return {
    /** The buys that something holds back or would, as they are by now, each with its packages that depend on it. */
    using(type: Dependency["type"], id: string): (readonly [MediaBuy, readonly BuyPackage[]])[] {
      const of = users.get(type) ?? usersOf(live, type);
      users.set(type, of);
      return [...(of.get(id) ?? [])].map(([buyId, packages]) => [now.get(buyId)!, packages]);
    },
    change({ media_buy_id: id }: MediaBuy, after: MediaBuy | undefined): void {
      if (after === undefined) return;
      now.set(id, after);
      changed.add(id);
    },
    async save(): Promise<void> {
      for (const id of changed) await saveBuy(call, now.get(id)!);
    },
  };
}

/** By what they depend on: the packages of each buy, none where an impairment alone is left of it. */
function usersOf(
  buys: readonly MediaBuy[],
  type: Dependency["type"],
): ReadonlyMap<string, ReadonlyMap<string, readonly BuyPackage[]>> {
  const users = new Map<string, Map<string, BuyPackage[]>>();
  const packagesOf = (id: string, { media_buy_id }: MediaBuy): BuyPackage[] => {
    const byBuy = users.get(id) ?? new Map<string, BuyPackage[]>();
    const packages = byBuy.get(media_buy_id) ?? [];
    users.set(id, byBuy.set(media_buy_id, packages));
    return packages;
  };
  for (const buy of buys) {
    for (const one of buy.packages.filter(isLivePackage))
      for (const id of new Set(dependsOn[type](one))) packagesOf(id, buy).push(one);
    for (const one of buy.impairments ?? []) if (one.resource_type === type) packagesOf(one.resource_id, buy);
  }
  return users;
}

/**
 * The buy as a change of what its packages depend on leaves it, and the event that says so; undefined where it changes nothing.
 * A closing event has the id of the opening one. All of it is stored in the transaction that makes it so.
 * @param held packages that depend on it
 */
function afterResource(
  call: BehaviourCall,
  buy: MediaBuy,
  of: Dependency,
  held: readonly BuyPackage[],
): MediaBuy | undefined {
  const isOffline = of.offline !== undefined;
  const open = (buy.impairments ?? []).find((one) => one.resource_type === of.type && one.resource_id === of.id);
  if (isOffline ? held.length === 0 || open !== undefined : open === undefined) return undefined;
  const others = (buy.impairments ?? []).filter((one) => one !== open);
  const packages = held.map(({ package_id }) => package_id);
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
