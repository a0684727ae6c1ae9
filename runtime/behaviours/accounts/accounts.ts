/** AccountsPort: a brand and who acts for it. An account exists from the first call that spends on it, or syncs it. */

import { createHash } from "node:crypto";
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { recordChange } from "../frame/changes.js";
import { collection, type DocumentOwner, type OwnedPart } from "../frame/collection.js";
import type { Account, AccountBrand, AccountState, OperatorUnit } from "../ports/accounts.js";

/** How requests name an account. */
export interface AccountRef {
  readonly account_id?: string;
  readonly brand?: AccountBrand;
  readonly operator?: string;
  readonly operator_unit?: OperatorUnit;
  readonly currency?: string;
  readonly timezone?: string;
  readonly sandbox?: boolean;
}

/** Who names an account, and where it is looked for. */
type Asker = Pick<BehaviourCall, "documents" | "principal" | "mode">;

const kept = collection<Account>("account");

/** Days of every account begin by this clock. */
export const TIMEZONE = "UTC";

/** Members of a reference that would bind an account in a way no account here is bound. */
export const boundBy = ({ currency, timezone }: AccountRef): readonly string[] => [
  ...(currency === undefined ? [] : ["currency"]),
  ...(timezone === undefined || timezone === TIMEZONE ? [] : ["timezone"]),
];

/**
 * The natural key: the same one is the same account of a caller, whoever asks first; a sandbox is one of its own. What a brand
 * or a unit says beside its key may change from call to call.
 */
function accountIdOf(principal: string, ref: AccountRef): string {
  const { brand, operator, operator_unit: unit, currency, sandbox } = ref;
  const countries = [...new Set((brand?.countries ?? []).map((one) => one.toUpperCase()))].sort();
  const who = [brand?.domain, brand?.brand_id ?? "", countries, operator, unit?.id ?? ""];
  const bound = boundBy(ref).includes("timezone") ? ref.timezone : "";
  const key = [principal, ...who, currency ?? "", bound, sandbox === true];
  return `acc_${createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 16)}`;
}

/** In development every account is a sandbox: saying so names no other one. */
const soughtIn = ({ mode }: Asker, ref: AccountRef): AccountRef =>
  mode === "development" ? { ...ref, sandbox: true } : ref;

const keyIn = (call: Asker, ref: AccountRef): string =>
  ref.account_id ?? accountIdOf(call.principal, soughtIn(call, ref));

export const findAccount = (call: Asker, id: string): Promise<Account | undefined> =>
  kept.get(call, call.principal, id);

/** Ids that accounts have in their seller's books, by what they are asked for. */
const called = collection<Pick<Account, "account_id">>("account_called");

/** The id of the account a request names, whether it is there or not. */
export async function accountId(call: Asker, ref: AccountRef): Promise<string> {
  const key = keyIn(call, ref);
  if ((await findAccount(call, key)) !== undefined) return key;
  return (await called.get(call, call.principal, key))?.account_id ?? key;
}

/** What an account is known by for good, by whatever name: what it was first asked for, which it has before it is opened. */
export async function accountNamed(call: Asker, ref: AccountRef): Promise<{ readonly account_id: string }> {
  const id = await accountId(call, ref);
  return { account_id: (await findAccount(call, id))?.key ?? id };
}

export const callersAccounts = (call: BehaviourCall): Promise<Account[]> => kept.list(call, call.principal);

/** Keeps what has changed, as the next revision of the account. */
export function saveAccount(
  call: BehaviourCall,
  changed: Account,
  action: "created" | "updated" = "updated",
): Account & { readonly revision: number } {
  const { account_id: id, revision = 0, key } = changed;
  if (key !== undefined) called.put(call, call.principal, key, { account_id: id });
  const saved = { ...changed, revision: revision + 1 };
  kept.put(call, call.principal, id, saved);
  recordChange(call, { account: id, type: "account", id, action });
  return saved;
}

/** Characters of an id. */
const MOST_OF_ID = 255;

const mayBeId = (id: unknown): id is string => typeof id === "string" && id !== "" && id.length <= MOST_OF_ID;

/** Whom an account is for that has been asked for by nothing but an id; in development only. */
const somebody = { brand: { domain: "sandbox.example" }, operator: "sandbox.example" };

/**
 * An account nobody has named before, as the seller opens it; not saved.
 * @throws ToolError ACCOUNT_NOT_FOUND for one that is bound to a currency or a time zone: none is
 */
export async function openAccount(call: BehaviourCall, ref: AccountRef): Promise<Account> {
  const [bound] = boundBy(ref);
  if (bound !== undefined)
    throw new ToolError("ACCOUNT_NOT_FOUND", `no account here is bound to a ${bound}: leave that out`, {
      field: `account.${bound}`,
    });
  const { sandbox, operator_unit: unit } = ref;
  const { brand, operator } = ref.brand?.domain === undefined ? { ...somebody, ...ref } : ref;
  const account_id = keyIn(call, ref);
  const account: Account = {
    account_id,
    name: ref.brand?.domain === undefined ? account_id : nameOf(ref),
    status: "active",
    ...(brand !== undefined && { brand }),
    ...(operator !== undefined && { operator }),
    ...(unit !== undefined && { operator_unit: unit }),
    account_scope: "operator_brand",
    ...(sandbox !== undefined && { sandbox }),
  };
  const opened = await call.ports.accounts.open(account, { principal: call.principal });
  const { account_id: own, status } = opened ?? {};
  if (mayBeId(own) && Object.hasOwn(refusals, status ?? ""))
    return own === account_id ? opened : { ...opened, key: account_id };
  throw new AdbindError(
    "port_answer_invalid",
    `account ${account_id} was opened as ${JSON.stringify(opened)?.slice(0, 500)}`,
    {
      where: "open of the port accounts",
      remedy:
        "answer the account as it was given, with one of the states of an account, and its id in your books if it has one",
    },
  );
}

function nameOf({ brand: { domain = "" } = {}, operator = domain, operator_unit: unit }: AccountRef): string {
  const name = domain === operator ? domain : `${domain} c/o ${operator}`;
  return unit === undefined ? name : `${name} (${unit.name ?? unit.id})`;
}

/**
 * What is done with a sandbox account must touch no platform and cost nothing. Ports are not told which account is one, so in
 * production there is none, and nobody's rehearsal is booked and billed.
 */
export const isSandboxInProduction = ({ ctx }: BehaviourCall, { sandbox }: Pick<AccountRef, "sandbox">): boolean =>
  sandbox === true && ctx.mode === "production";

/**
 * The account a request names. In development an id nobody knows is a sandbox account: clients are tested with ids that were
 * agreed on elsewhere.
 * @throws ToolError ACCOUNT_NOT_FOUND for an id that is not one of the caller's, and for a sandbox in production
 */
export async function resolveAccount(call: BehaviourCall, ref: AccountRef): Promise<Account> {
  const found = await findAccount(call, await accountId(call, ref));
  if (isSandboxInProduction(call, found ?? ref))
    throw new ToolError("ACCOUNT_NOT_FOUND", "there are no sandbox accounts here: nothing is done for this one", {
      field: ref.sandbox === true ? "account.sandbox" : "account",
    });
  if (found !== undefined) return found;
  const mayOpen = ref.account_id === undefined || (call.ctx.mode === "development" && mayBeId(ref.account_id));
  if (mayOpen) {
    const opened = await openAccount(call, ref.account_id === undefined ? ref : { ...ref, sandbox: true });
    // Its seller may have one account for what is asked for by two names: what is kept of it holds.
    return (await findAccount(call, opened.account_id)) ?? opened;
  }
  throw new ToolError("ACCOUNT_NOT_FOUND", `no account ${ref.account_id}`, { field: "account.account_id" });
}

/**
 * For who only looks for offers, where the release has no account opened for that: the account that is named is there already.
 * In development accounts that were agreed on elsewhere are there.
 * @throws ToolError ACCOUNT_NOT_FOUND where it is not
 */
export async function requireKnown(call: BehaviourCall): Promise<void> {
  const ref = call.ctx.account as AccountRef | undefined;
  const opens = call.ctx.mode === "development" || call.release.facts.tools.provisioning.value === "naming";
  if (ref === undefined || opens) return;
  if ((await findAccount(call, await accountId(call, ref))) !== undefined) return;
  throw new ToolError("ACCOUNT_NOT_FOUND", "there is no such account yet: leave it out, or have it opened first", {
    field: "account",
  });
}

const refusals: { readonly [S in AccountState]: string | undefined } = {
  active: undefined,
  pending_approval: "ACCOUNT_SETUP_REQUIRED",
  rejected: "ACCOUNT_NOT_FOUND",
  payment_required: "ACCOUNT_PAYMENT_REQUIRED",
  suspended: "ACCOUNT_SUSPENDED",
  closed: "ACCOUNT_NOT_FOUND",
};

/**
 * As `resolveAccount`, for a call that spends the account's money; an account that is new is kept, unless this is a rehearsal.
 * @throws ToolError ACCOUNT_SUSPENDED and the like where the account's state forbids it
 */
export async function spendingAccount(call: BehaviourCall, ref: AccountRef, rehearsed = false): Promise<Account> {
  const found = await resolveAccount(call, ref);
  const refusal = refusals[found.status];
  if (refusal !== undefined)
    throw new ToolError(refusal, `account ${found.account_id} is ${found.status}`, { field: "account" });
  if (!rehearsed && (await findAccount(call, found.account_id)) === undefined) saveAccount(call, found, "created");
  return found;
}

/** The account that a call names is kept, where it is new. */
export async function keepNamed(call: BehaviourCall): Promise<void> {
  const ref = call.ctx.account as AccountRef | undefined;
  if (ref?.account_id === undefined && ref?.brand === undefined) return;
  const found = await resolveAccount(call, ref);
  if ((await findAccount(call, found.account_id)) === undefined) saveAccount(call, found, "created");
}

/** Owner of what belongs to an account: documents of one caller's account are nobody else's. */
export const accountOwner = (call: BehaviourCall, { account_id: part }: Pick<Account, "account_id">): OwnedPart => ({
  principal: call.principal,
  part,
});

/** Owner of what a request's account has; the caller's own where the request names no account. */
export const ownerOfRef = async (call: BehaviourCall, ref: AccountRef | undefined): Promise<DocumentOwner> =>
  ref === undefined ? call.principal : accountOwner(call, await resolveAccount(call, ref));

/** An account as answers show it. */
export const shownAccount = ({ more, synced: _, key: _key, listeners: _listeners, ...account }: Account): object => ({
  ...account,
  timezone: TIMEZONE,
  ...more,
});
