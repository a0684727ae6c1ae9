/** Accounts: a brand and who acts for it. An account exists from the first call that names it by brand and operator. */
import { createHash } from "node:crypto";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";

export const accountStates = [
  "active",
  "pending_approval",
  "rejected",
  "payment_required",
  "suspended",
  "closed",
] as const;
export type AccountState = (typeof accountStates)[number];

export interface Brand {
  readonly domain?: string;
  readonly brand_id?: string;
}

export interface Account {
  readonly account_id: string;
  readonly name: string;
  readonly status: AccountState;
  readonly brand: Brand;
  readonly operator: string;
  readonly billing?: string;
  readonly billing_entity?: object;
  readonly payment_terms?: string;
  readonly account_scope: "operator_brand";
  readonly sandbox?: boolean;
  readonly governance_agents?: readonly GovernanceAgent[];
}

export interface GovernanceAgent {
  readonly url: string;
  readonly categories?: readonly string[];
}

/** How requests name an account. */
export interface AccountRef {
  readonly account_id?: string;
  readonly brand?: Brand;
  readonly operator?: string;
  readonly sandbox?: boolean;
}

const KIND = "account";

/** The same brand and operator are the same account of a caller, whoever asks first. */
export const accountIdOf = (principal: string, { brand, operator }: AccountRef): string =>
  `acc_${createHash("sha256")
    .update(JSON.stringify([principal, brand?.domain, brand?.brand_id ?? "", operator]))
    .digest("hex")
    .slice(0, 16)}`;

export const accountId = (call: Call, ref: AccountRef): string => accountIdOf(call.principal, ref);

export const account = (call: Call, id: string): Account | undefined =>
  call.documents.get<Account>(KIND, call.principal, id);

export const accounts = (call: Call): Account[] => call.documents.list<Account>(KIND, call.principal);

export const saveAccount = (call: Call, changed: Account): void =>
  call.documents.put(KIND, call.principal, changed.account_id, changed);

/** A new account of a brand and its operator; not saved. */
export const newAccount = (call: Call, ref: AccountRef): Account => ({
  account_id: accountId(call, ref),
  name: ref.brand?.domain === ref.operator ? `${ref.brand?.domain}` : `${ref.brand?.domain} c/o ${ref.operator}`,
  status: "active",
  brand: ref.brand ?? {},
  operator: ref.operator ?? "",
  account_scope: "operator_brand",
  ...(ref.sandbox !== undefined && { sandbox: ref.sandbox }),
});

/**
 * The account a request names. In development an id nobody knows opens a sandbox account: clients are tested with ids
 * that were agreed on elsewhere.
 * @throws ToolError ACCOUNT_NOT_FOUND for an id that is not one of the caller's
 */
export function resolveAccount(call: Call, ref: AccountRef): Account {
  if (ref.account_id === undefined) return account(call, accountId(call, ref)) ?? newAccount(call, ref);
  const found = account(call, ref.account_id);
  if (found !== undefined) return found;
  if (call.ctx.mode === "development") return sandboxAccount(ref.account_id);
  throw new ToolError("ACCOUNT_NOT_FOUND", `no account ${ref.account_id}`, { field: "account.account_id" });
}

const sandboxAccount = (account_id: string): Account => ({
  account_id,
  name: account_id,
  status: "active",
  brand: {},
  operator: "",
  account_scope: "operator_brand",
  sandbox: true,
});

const refusals: { readonly [S in AccountState]: string | undefined } = {
  active: undefined,
  pending_approval: "ACCOUNT_SETUP_REQUIRED",
  rejected: "ACCOUNT_NOT_FOUND",
  payment_required: "ACCOUNT_PAYMENT_REQUIRED",
  suspended: "ACCOUNT_SUSPENDED",
  closed: "ACCOUNT_NOT_FOUND",
};

/**
 * As `resolveAccount`, for a call that spends the account's money; an account that is new is kept.
 * @throws ToolError ACCOUNT_SUSPENDED and the like where the account's state forbids it
 */
export function spendingAccount(call: Call, ref: AccountRef): Account {
  const found = resolveAccount(call, ref);
  const refusal = refusals[found.status];
  if (refusal !== undefined)
    throw new ToolError(refusal, `account ${found.account_id} is ${found.status}`, { field: "account" });
  if (account(call, found.account_id) === undefined) saveAccount(call, found);
  return found;
}

/** Owner of what belongs to an account: documents of one caller's account are nobody else's. */
export const ownerOf = (call: Call, { account_id }: Pick<Account, "account_id">): string =>
  `${call.principal}/${account_id}`;

/** Owner of what a request's account has; the caller's own where the request names no account. */
export const ownerOfRef = (call: Call, ref: AccountRef | undefined): string =>
  ref === undefined ? call.principal : ownerOf(call, resolveAccount(call, ref));
