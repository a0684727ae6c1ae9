/** Media buys and their packages, as kept, and the state they are in. */
import { UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { recordChange } from "../frame/changes.js";
import { collection } from "../frame/collection.js";
import { summed } from "../frame/currency.js";
import { written } from "../frame/effects.js";
import { type Creative, type CreativeState, findCreative, mayUse } from "../library/creatives.js";
import type { Booking, CreativeAssignment } from "../ports/ad-server.js";
import type { Negotiated } from "../products/terms.js";
import { goalSources, promotedCatalogs, targetedAudiences } from "./targets.js";

const changing = ["cancel", "update_budget", "update_dates", "update_packages", "add_packages", "sync_creatives"];

/** A buy's own ends; canceling is the buyer's. */
const ended = { completed: [], rejected: [] } as const;

/** What a buyer may do with a buy, by its states, from the first to the last. */
const actions = {
  pending_creatives: changing,
  pending_start: ["pause", ...changing],
  active: ["pause", ...changing],
  paused: ["resume", ...changing],
  ...ended,
  canceled: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type BuyState = keyof typeof actions;

export const buyStates = Object.keys(actions) as BuyState[];

export const isBuyState = (status: unknown): status is BuyState => (buyStates as readonly unknown[]).includes(status);

export const actionsIn = (state: BuyState): readonly string[] => actions[state];

export interface Cancellation {
  readonly canceled_at: string;
  readonly canceled_by: "buyer" | "seller";
  readonly reason?: string;
}

export interface BuyPackage {
  readonly package_id: string;
  readonly product_id: string;
  readonly pricing_option_id: string;
  readonly budget: number;
  readonly currency: string;
  readonly bid_price?: number;
  readonly start_time: string;
  readonly end_time: string;
  readonly paused: boolean;
  readonly canceled?: boolean;
  readonly cancellation?: Cancellation;
  readonly creative_assignments: readonly CreativeAssignment[];
  /** What the buyer set and the seller keeps as it is: targeting, pacing, goals, terms, catalogues. */
  readonly terms: JsonObject;
}

export interface BuyChange {
  readonly revision: number;
  readonly timestamp: string;
  readonly action: string;
  readonly summary?: string;
  readonly package_id?: string;
}

/** What holds a buy back at present; the buyer reads it in `impairments[]`, as long as it lasts. */
export interface BuyImpairment extends JsonObject {
  readonly impairment_id: string;
  readonly resource_type: "creative" | "audience" | "event_source" | "catalog_item";
  readonly resource_id: string;
  readonly package_ids: readonly string[];
}

export interface MediaBuy {
  readonly media_buy_id: string;
  readonly account_id: string;
  readonly brand: JsonObject;
  readonly currency: string;
  readonly created_at: string;
  readonly confirmed_at: string;
  readonly updated_at: string;
  readonly revision: number;
  readonly paused: boolean;
  /** The order at the ad server. */
  readonly booking?: Booking;
  /** A state that does not follow from the rest: the end of the buy, or what an operator put it into. */
  readonly fixed?: BuyState;
  readonly rejection_reason?: string;
  readonly cancellation?: Cancellation;
  readonly packages: readonly BuyPackage[];
  readonly history: readonly BuyChange[];
  readonly impairments?: readonly BuyImpairment[];
  /** The terms that were agreed to, where there was an agreement. */
  readonly accepted?: Negotiated;
  /** The time zone that its reports go by, where it is not UTC. */
  readonly reporting_timezone?: string;
  /** Fields of the buy that are kept as the buyer gave them. */
  readonly terms: JsonObject;
}

/** Where buys are kept. */
export const BUYS = "media_buy";
const kept = collection<MediaBuy>(BUYS);
/** Which buy a package is of. */
const places = collection<{ readonly media_buy_id: string }>("package");

/** States that a buy never leaves: nothing can be done in them. */
export const terminalStates: ReadonlySet<BuyState> = new Set(
  buyStates.filter((state) => actionsIn(state).length === 0),
);

/** A buy by its id: ids are the seller's and unique, and only the caller's own are found. */
export const findBuy = (call: BehaviourCall, id: string): Promise<MediaBuy | undefined> =>
  kept.get(call, call.principal, id);

/**
 * The buy a request names.
 * @param account whose it is, where the request says so
 * @throws ToolError MEDIA_BUY_NOT_FOUND, also for a buy of another caller or account
 */
export async function buyOf(call: BehaviourCall, id: string, account?: AccountRef): Promise<MediaBuy> {
  const found = await findBuy(call, id);
  const foreign = account !== undefined && (await resolveAccount(call, account)).account_id !== found?.account_id;
  if (found === undefined || foreign)
    throw new ToolError("MEDIA_BUY_NOT_FOUND", "there is no such media buy", { field: "media_buy_id" });
  return found;
}

/** The id of the buy that a package is of. */
export const buyIdOfPackage = async (call: BehaviourCall, packageId: string): Promise<string | undefined> =>
  (await places.get(call, call.principal, packageId))?.media_buy_id;

/** Reads which buys many packages are of at once, where each is looked for hereafter. */
export const readPackages = (call: BehaviourCall, packageIds: readonly string[]): Promise<void> =>
  places.read(call, call.principal, packageIds);

/** What a package depends on, by its sort. */
export const dependsOn: { readonly [T in BuyImpairment["resource_type"]]: (one: BuyPackage) => readonly string[] } = {
  creative: (one) => one.creative_assignments.map(({ creative_id }) => creative_id),
  audience: ({ terms }) => targetedAudiences(terms),
  event_source: ({ terms }) => goalSources(terms),
  catalog_item: ({ terms }) => promotedCatalogs(terms),
};

/** A buy is not held back by what none of its packages has any more: buyers are told that it is over. */
function withoutMoot(call: BehaviourCall, buy: MediaBuy): MediaBuy {
  const { impairments = [], packages, media_buy_id } = buy;
  if (impairments.length === 0) return buy;
  const live = packages.filter(isLivePackage);
  const needed = new Map(
    Object.entries(dependsOn).map(([type, idsOf]) => [type, new Set(live.flatMap((one) => idsOf(one)))]),
  );
  const moot = new Set(impairments.filter(({ resource_type: type, resource_id: id }) => !needed.get(type)?.has(id)));
  if (moot.size === 0) return buy;
  const { sender } = call.ctx;
  for (const one of moot) {
    const event = {
      notificationId: one.impairment_id,
      eventType: "brand_safety",
      impairment: { ...one, resolved_at: call.time },
    };
    const { principal } = call;
    if (sender !== undefined)
      call.ctx.effect((tx) => written(sender.channels.impairment(media_buy_id, event, { tx, principal })));
  }
  return { ...buy, impairments: impairments.filter((one) => !moot.has(one)) };
}

/** Keeps a buy. With its end its channels end too. */
export async function saveBuy(call: BehaviourCall, changed: MediaBuy): Promise<void> {
  const buy = withoutMoot(call, changed);
  const { media_buy_id, fixed, packages } = buy;
  const before = await findBuy(call, media_buy_id);
  const known = new Set(before?.packages.map(({ package_id }) => package_id));
  for (const { package_id } of packages)
    if (!known.has(package_id)) places.put(call, call.principal, package_id, { media_buy_id });
  kept.put(call, call.principal, media_buy_id, buy);
  const action = before === undefined ? "created" : "updated";
  recordChange(call, { account: buy.account_id, type: "media_buy", id: media_buy_id, action });
  const { sender } = call.ctx;
  if (sender === undefined) return;
  const { principal } = call;
  const { reporting_timezone: timezone = UTC } = buy;
  if (timezone !== (before?.reporting_timezone ?? UTC))
    call.ctx.effect((tx) => {
      const of = { mediaBuyId: media_buy_id, principal };
      return written(sender.channels.reportIn(of, timezone, { tx }));
    });
  if (fixed === undefined || fixed === before?.fixed || !terminalStates.has(fixed)) return;
  // No report, impairment or other event is sent after the final report.
  call.ctx.effect((tx) => written(sender.channels.close(media_buy_id, { tx, principal })));
}

export interface BuyFilter {
  readonly account?: AccountRef | undefined;
  /** These and no others, as far as they are the account's. */
  readonly ids?: readonly string[] | undefined;
}

/** Buys of the caller: those named, or those of an account, or all. */
export async function buysOf(call: BehaviourCall, { account, ids }: BuyFilter = {}): Promise<MediaBuy[]> {
  const named = ids && (await Promise.all([...new Set(ids)].map((id) => findBuy(call, id))));
  const all = named?.filter((one) => one !== undefined) ?? (await kept.list(call, call.principal));
  if (account === undefined) return all;
  const { account_id } = await resolveAccount(call, account);
  return all.filter((buy) => buy.account_id === account_id);
}

/**
 * A package serves once something is assigned to it that was not refused. What is refused after that holds it back, and is told
 * as an impairment: the buy does not wait for its first creative again.
 */
async function hasCreative(
  call: BehaviourCall,
  { creative_assignments }: BuyPackage,
  { account_id }: MediaBuy,
  impaired: ReadonlySet<string>,
): Promise<boolean> {
  for (const { creative_id } of creative_assignments) {
    if (impaired.has(creative_id) || (await serves(call, creative_id, account_id))) return true;
  }
  return false;
}

const serving: readonly CreativeState[] = ["approved", "pending_review", "processing"];

/** It is the account's, was not refused, and not taken away. */
export const isServed = (creative: Creative, accountId: string): boolean =>
  creative.purge === undefined && mayUse(accountId, creative) && serving.includes(creative.status);

/** The same of what is there by an id. */
export async function serves(call: BehaviourCall, creativeId: string, accountId: string): Promise<boolean> {
  const found = await findCreative(call, creativeId);
  return found !== undefined && isServed(found, accountId);
}

/** Is its state one that it never leaves? Nothing but the buy is looked at: what its packages lack does not matter. */
export const buyIsOver = ({ now }: BehaviourCall, buy: MediaBuy): boolean =>
  buy.fixed === undefined ? Date.parse(endOf(buy)) < now.getTime() : terminalStates.has(buy.fixed);

/** The state a buy is in: what was decided, else what it lacks, else the calendar. */
export async function buyState(call: BehaviourCall, buy: MediaBuy): Promise<BuyState> {
  if (buy.fixed !== undefined) return buy.fixed;
  const now = call.now.getTime();
  if (buyIsOver(call, buy)) return "completed";
  const ofCreatives = (buy.impairments ?? []).filter((one) => one.resource_type === "creative");
  const impaired = new Set(ofCreatives.map((one) => one.resource_id));
  for (const one of buy.packages)
    if (isLivePackage(one) && !(await hasCreative(call, one, buy, impaired))) return "pending_creatives";
  if (buy.paused) return "paused";
  return Date.parse(startOf(buy)) > now ? "pending_start" : "active";
}

const earliest = (times: readonly string[]): string => times.reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a));
const latest = (times: readonly string[]): string => times.reduce((a, b) => (Date.parse(b) > Date.parse(a) ? b : a));

export const startOf = ({ packages }: MediaBuy): string => earliest(packages.map(({ start_time }) => start_time));

/** What was canceled ran until then, as long as anything else runs. */
export function endOf({ packages }: MediaBuy): string {
  const none = !packages.some(isLivePackage);
  return latest(
    packages.map(({ end_time, cancellation }) =>
      none || cancellation === undefined ? end_time : earliest([end_time, cancellation.canceled_at]),
    ),
  );
}

export const isLivePackage = ({ canceled }: BuyPackage): boolean => canceled !== true;

export const budgetOf = ({ packages }: MediaBuy): number =>
  summed(packages.filter(isLivePackage).map(({ budget }) => budget));

/** A package as answers show it; what a release has no place for is left out there. */
export const shownBuyPackage = ({ terms, product_id, pricing_option_id, ...one }: BuyPackage): JsonObject => ({
  ...one,
  // What was booked before there were products has none.
  ...(product_id !== "" && { product_id }),
  ...(pricing_option_id !== "" && { pricing_option_id }),
  ...terms,
});

/** A buy with one more change in its history. */
export const revised = (
  buy: MediaBuy,
  timestamp: string,
  done: readonly Pick<BuyChange, "action" | "summary" | "package_id">[],
): MediaBuy => {
  const revision = buy.revision + 1;
  const history = done.map((one) => ({ revision, timestamp, ...one }));
  return { ...buy, revision, updated_at: timestamp, history: [...buy.history, ...history] };
};
