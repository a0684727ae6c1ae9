/** A media buy and its packages, as kept, and the state they are in. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { creative } from "../creatives/creatives.js";
import { type Impairment, tellEnd } from "./tidings.js";

/** States of a media buy, from first to last. */
export type BuyState =
  | "pending_creatives"
  | "pending_start"
  | "active"
  | "paused"
  | "completed"
  | "rejected"
  | "canceled";

export interface Assignment {
  readonly creative_id: string;
  readonly weight?: number;
  readonly placement_ids?: readonly string[];
}

export interface Cancellation {
  readonly canceled_at: string;
  readonly canceled_by: "buyer" | "seller";
  readonly reason?: string;
}

export interface Package {
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
  readonly creative_assignments: readonly Assignment[];
  /** What the buyer set and this seller keeps as it is: targeting, pacing, goals, terms, catalogues. */
  readonly terms: JsonObject;
}

export interface Change {
  readonly revision: number;
  readonly timestamp: string;
  readonly action: string;
  readonly summary?: string;
  readonly package_id?: string;
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
  /** A state that does not follow from the rest: the end of the buy, or what an operator put it into. */
  readonly fixed?: BuyState;
  readonly cancellation?: Cancellation;
  readonly packages: readonly Package[];
  readonly history: readonly Change[];
  /** What holds it back at present. */
  readonly impairments?: readonly Impairment[];
  /** Fields of the buy that are kept as the buyer gave them. */
  readonly terms: JsonObject;
}

const KIND = "media_buy";

export const terminal: ReadonlySet<BuyState> = new Set(["completed", "rejected", "canceled"]);

/** What a package's line shows a buyer may do with it, state by state. */
const actions: { readonly [S in BuyState]: readonly string[] } = {
  pending_creatives: ["cancel", "update_budget", "update_dates", "update_packages", "add_packages", "sync_creatives"],
  pending_start: [
    "pause",
    "cancel",
    "update_budget",
    "update_dates",
    "update_packages",
    "add_packages",
    "sync_creatives",
  ],
  active: ["pause", "cancel", "update_budget", "update_dates", "update_packages", "add_packages", "sync_creatives"],
  paused: ["resume", "cancel", "update_budget", "update_dates", "update_packages", "add_packages", "sync_creatives"],
  completed: [],
  rejected: [],
  canceled: [],
};

export const validActions = (state: BuyState): readonly string[] => actions[state];

/** A buy by its id: ids are this seller's and unique, and only the caller's own are found. */
export const findBuy = (call: Call, id: string): MediaBuy | undefined =>
  call.documents.get<MediaBuy>(KIND, call.principal, id);

/**
 * The buy a request names.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, also for a buy of another caller
 */
export function buyOf(call: Call, id: string): MediaBuy {
  const found = findBuy(call, id);
  if (found === undefined)
    throw new ToolError("MEDIA_BUY_NOT_FOUND", "there is no such media buy", { field: "media_buy_id" });
  return found;
}

/** Keeps a buy. With its end its channels end too. */
export function saveBuy(call: Call, buy: MediaBuy): void {
  const before = findBuy(call, buy.media_buy_id)?.fixed;
  call.documents.put(KIND, call.principal, buy.media_buy_id, buy);
  if (buy.fixed !== undefined && buy.fixed !== before && terminal.has(buy.fixed)) tellEnd(call, buy);
}

export interface BuyFilter {
  readonly account?: AccountRef | undefined;
  /** These and no others, whatever their account. */
  readonly ids?: readonly string[] | undefined;
}

/** Buys of the caller: those named, or those of an account, or all. */
export function buysOf(call: Call, { account, ids }: BuyFilter = {}): MediaBuy[] {
  const all = call.documents.list<MediaBuy>(KIND, call.principal);
  if (ids !== undefined) return all.filter(({ media_buy_id }) => ids.includes(media_buy_id));
  if (account === undefined) return all;
  const { account_id } = resolveAccount(call, account);
  return all.filter((buy) => buy.account_id === account_id);
}

/** A package serves once something approved is assigned to it. */
const hasCreative = (call: Call, { creative_assignments }: Package): boolean =>
  creative_assignments.some(({ creative_id }) => {
    const status = creative(call, creative_id)?.status;
    return status === "approved" || status === "pending_review" || status === "processing";
  });

/** The state a buy is in: what was decided, else what it lacks, else the calendar. */
export function stateOf(call: Call, buy: MediaBuy): BuyState {
  if (buy.fixed !== undefined) return buy.fixed;
  const live = buy.packages.filter(({ canceled }) => canceled !== true);
  if (!live.every((one) => hasCreative(call, one))) return "pending_creatives";
  if (Date.parse(startOf(buy)) > call.now.getTime()) return "pending_start";
  return buy.paused ? "paused" : "active";
}

const earliest = (times: readonly string[]): string => times.reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a));
const latest = (times: readonly string[]): string => times.reduce((a, b) => (Date.parse(b) > Date.parse(a) ? b : a));

export const startOf = ({ packages }: MediaBuy): string => earliest(packages.map(({ start_time }) => start_time));
export const endOf = ({ packages }: MediaBuy): string => latest(packages.map(({ end_time }) => end_time));

export const budgetOf = ({ packages }: MediaBuy): number =>
  packages.filter(({ canceled }) => canceled !== true).reduce((total, { budget }) => total + budget, 0);

/** A package as create and update show it. */
export const shownPackage = ({ terms, currency: _, ...one }: Package): JsonObject => ({ ...one, ...terms });
