/** Who may buy, and on what terms. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** Every state an account may be in. */
export const accountStates = [
  "active",
  "pending_approval",
  "rejected",
  "payment_required",
  "suspended",
  "closed",
] as const;
/** A state of an account. */
export type AccountState = (typeof accountStates)[number];

/** The brand that an account is for. */
export interface AccountBrand {
  readonly domain?: string;
  readonly brand_id?: string;
  /** ISO 3166-1 codes: a brand of other countries is another advertiser. */
  readonly countries?: readonly string[];
}

/** A business unit or seat of an operator that has accounts of its own. */
export interface OperatorUnit {
  readonly id: string;
  /** For people; it may change. */
  readonly name?: string;
}

/** A buyer's account as the seller keeps it. */
export interface Account {
  readonly account_id: string;
  readonly name: string;
  readonly status: AccountState;
  readonly brand?: AccountBrand;
  readonly operator?: string;
  readonly operator_unit?: OperatorUnit;
  readonly billing?: string;
  readonly billing_entity?: JsonObject;
  readonly payment_terms?: string;
  readonly account_scope: "operator_brand";
  readonly sandbox?: boolean;
  readonly governance_agents?: readonly GovernanceAgent[];
  /** Grows with every change that is kept. */
  readonly revision?: number;
  /** What it is asked for by, where its seller's books have another id. Answers do not show it. */
  readonly key?: string;
  /** Its buyer has synced it, so that it can be missing in a sync. Answers do not show it. */
  readonly synced?: boolean;
  /** Digest of who is told of it, as its buyer has said it last; left out where nobody is. Answers do not show it. */
  readonly listeners?: string;
  /** More of the account's own fields, as on the wire. */
  readonly more?: JsonObject;
}

/** An agent that an account has asked to be consulted. */
export interface GovernanceAgent {
  readonly url: string;
  readonly categories?: readonly string[];
}

/** How much an account may owe, in its currency. */
export interface Credit {
  readonly currency: string;
  readonly limit: number;
}

/** Whose accounts are opened, on which terms. Yours to answer. */
export interface AccountsPort extends CallsUpstream {
  /**
   * The account as it opens; its state says whether it may spend. Your books' own `account_id` is kept, where you give one: the same
   * for the same account, however often it is asked for. Throws a `ToolError` for one that is not opened.
   */
  open(account: Account, who: { readonly principal: string }): Promise<Account>;
  /** What it may owe. */
  credit?(account: Account): Promise<Credit>;
  /**
   * Whether an order of the account may be invoiced to a recipient, as `core/business-entity.json` has it, that is not the
   * account's own billing entity. Nobody else may be where this is left out.
   */
  mayInvoice?(account: Account, recipient: JsonObject): Promise<boolean>;
  /** Ways to be billed that are offered. */
  readonly billing: readonly string[];
}

/** What an account may owe where nobody says otherwise. */
const CREDIT_LIMIT = 1_000_000;

/** Every account a caller names is opened, on credit. */
export const openAccounts: AccountsPort = {
  open: async (account) => account,
  credit: async () => ({ currency: "USD", limit: CREDIT_LIMIT }),
  billing: ["operator", "agent", "advertiser"],
};
