/** A media buy and its packages, as kept, and the state they are in. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";
import { type AccountRef, ownerOf, ownerOfRef } from "../accounts/accounts.js";
import { creative } from "../creatives/creatives.js";

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
  /** Owner of the document: the caller's account. */
  readonly owner: string;
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
  /** Fields of the buy that are kept as the buyer gave them. */
  readonly terms: JsonObject;
}

const KIND = "media_buy";
/** Whose a buy is, by its id: for whom creatives and delivery are found without the account. */
const INDEX = "media_buy_owner";

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

export const findBuy = (call: Call, owner: string, id: string): MediaBuy | undefined =>
  call.documents.get<MediaBuy>(KIND, owner, id);

/** A buy by its id alone, among all of the caller's accounts. */
export function ownBuy(call: Call, id: string): MediaBuy | undefined {
  const index = call.documents.get<{ owner: string }>(INDEX, call.principal, id);
  return index === undefined ? undefined : findBuy(call, index.owner, id);
}

/**
 * The buy a request names.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, also for a buy of another account
 */
export function buyOf(call: Call, account: AccountRef | undefined, id: string): MediaBuy {
  const found = account === undefined ? ownBuy(call, id) : findBuy(call, ownerOfRef(call, account), id);
  if (found === undefined) throw new ToolError("MEDIA_BUY_NOT_FOUND", `no media buy ${id}`, { field: "media_buy_id" });
  return found;
}

export function saveBuy(call: Call, buy: MediaBuy): void {
  call.documents.put(KIND, buy.owner, buy.media_buy_id, buy);
  if (buy.revision === 1) call.documents.put(INDEX, call.principal, buy.media_buy_id, { owner: buy.owner });
}

/** Buys of an account, or all of the caller's. */
export function buysOf(call: Call, account: AccountRef | undefined): MediaBuy[] {
  if (account !== undefined) return call.documents.list<MediaBuy>(KIND, ownerOfRef(call, account));
  const index = call.documents.list<{ owner: string }>(INDEX, call.principal);
  return [...new Set(index.map(({ owner }) => owner))].flatMap((owner) => call.documents.list<MediaBuy>(KIND, owner));
}

export const buyOwner = ownerOf;

/** A package serves once something approved is assigned to it. */
const hasCreative = (call: Call, { owner }: MediaBuy, { creative_assignments }: Package): boolean =>
  creative_assignments.some(({ creative_id }) => {
    const status = creative(call, owner, creative_id)?.status;
    return status === "approved" || status === "pending_review" || status === "processing";
  });

/** The state a buy is in: what was decided, else what it lacks, else the calendar. */
export function stateOf(call: Call, buy: MediaBuy): BuyState {
  if (buy.fixed !== undefined) return buy.fixed;
  const live = buy.packages.filter(({ canceled }) => canceled !== true);
  if (!live.every((one) => hasCreative(call, buy, one))) return "pending_creatives";
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
