import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { refusedBy, ToolError } from "../../seller/tool-error.js";
import type { NotificationConfig } from "../../sender/types.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account, AccountState } from "../ports/accounts.js";
import { accountId, callersAccounts, findAccount, openAccount, saveAccount } from "./accounts.js";
import { failedLine, lineOf } from "./lines.js";
import { checkOffered, refOf, type WantedAccount } from "./wanted.js";

interface Wanted {
  readonly accounts: readonly WantedAccount[];
  readonly delete_missing?: boolean;
  readonly dry_run?: boolean;
}

/** `sync_accounts`: each account named is made or brought up to date. */
export const syncAccounts: ToolBehaviour = async (request: Wanted, call) => {
  const dryRun = request.dry_run === true;
  const results: JsonObject[] = [];
  for (const [index, wanted] of request.accounts.entries())
    results.push(await syncOne(call, wanted, { at: `accounts[${index}]`, dryRun }));
  if (request.delete_missing === true) {
    // What could not be brought up to date is named all the same.
    const named = new Set(await Promise.all(request.accounts.map((wanted) => accountId(call, refOf(call, wanted)))));
    for (const one of await callersAccounts(call)) {
      // What was never synced, such as what an order has opened, cannot be missing in a sync.
      if (one.synced !== true || named.has(one.account_id) || !leavable.has(one.status)) continue;
      const closed: Account = { ...one, status: "closed" };
      results.push(lineOf(call, {}, dryRun ? closed : saveAccount(call, closed), "updated"));
    }
  }
  return call.answer({ accounts: results, ...(dryRun && { dry_run: true }) });
};

/** States that a buyer may end by himself: what a seller has put an account into, it has to answer for. */
const leavable: ReadonlySet<AccountState> = new Set(["active", "pending_approval"]);

interface LineCall {
  /** The line's place in the request. */
  readonly at: string;
  readonly dryRun: boolean;
}

async function syncOne(call: BehaviourCall, wanted: WantedAccount, { at, dryRun }: LineCall): Promise<JsonObject> {
  const ref = refOf(call, wanted);
  const before = await findAccount(call, await accountId(call, ref));
  try {
    checkOffered(call, wanted, { before, at });
    const wished = await changed(call, wanted, before);
    const listening = dryRun ? {} : await syncConfigs(call, wished.account_id, wanted.notification_configs);
    const after = listening.listeners === undefined ? wished : withListeners(wished, listening.listeners);
    const same = before !== undefined && listening.changed !== true && JSON.stringify(before) === JSON.stringify(after);
    const saved = same || dryRun ? after : saveAccount(call, after, before === undefined ? "created" : "updated");
    const action = before === undefined ? "created" : same ? "unchanged" : "updated";
    const configs = listening.configs;
    return {
      ...lineOf(call, wanted, saved, action),
      ...(configs !== undefined && { notification_configs: configs }),
    };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return failedLine(call, { wanted, ref, before }, error);
  }
}

/** The account as it is to be; not saved. */
async function changed(call: BehaviourCall, wanted: WantedAccount, before: Account | undefined): Promise<Account> {
  const ref = refOf(call, wanted);
  const { billing, billing_entity, payment_terms } = wanted;
  // A closed account that is provisioned again is opened again, where its seller would open it.
  const reopened = before?.status === "closed" && wanted.account === undefined;
  return {
    ...(before ?? (await openAccount(call, ref))),
    ...(ref.operator_unit !== undefined && { operator_unit: ref.operator_unit }),
    ...(billing !== undefined && { billing }),
    ...(billing_entity !== undefined && { billing_entity: withoutBank(billing_entity) }),
    ...(payment_terms !== undefined && { payment_terms }),
    ...(ref.sandbox !== undefined && { sandbox: ref.sandbox }),
    ...(reopened && { status: (await openAccount(call, ref)).status }),
    synced: true,
  };
}

/** The sender keeps them by itself: a call that is done again finds them there, and the account as it was before. */
function withListeners({ listeners: _, ...account }: Account, configs: readonly object[]): Account {
  if (configs.length === 0) return account;
  return { ...account, listeners: hash("sha256", canonicalize(configs) ?? "").slice(0, 16) };
}

interface Listening {
  readonly configs?: readonly object[];
  /** Those that were given, as they were taken. */
  readonly listeners?: readonly object[];
  /** They are not those of before. */
  readonly changed?: boolean;
}

/**
 * Who is told of the account: those that are given instead of those it had; those it has where none are given.
 * @throws ToolError what the sender refuses
 */
async function syncConfigs(
  call: BehaviourCall,
  account: string,
  configs: readonly NotificationConfig[] | undefined,
): Promise<Listening> {
  const { sender } = call.ctx;
  if (sender === undefined || !call.shapes.answer("sync_accounts").has("accounts", "*", "notification_configs"))
    return {};
  const scope = { principal: call.principal, account, release: call.release.version };
  const had = await sender.notifications.list(scope);
  if (configs === undefined) return { configs: had };
  // They are judged here, one account at a time: a schema would refuse all accounts for one of them.
  const given: unknown = configs;
  if (!Array.isArray(given) || !given.every(isJsonObject))
    throw new ToolError("INVALID_REQUEST", "who is told is a list of registrations", { field: "notification_configs" });
  const taken = await sender.notifications.sync(scope, configs);
  if (!taken.ok) throw refusedBy(taken.error);
  const { configs: listeners } = taken;
  return { configs: listeners, listeners, changed: JSON.stringify(listeners) !== JSON.stringify(had) };
}

/** Nobody is told of the caller's accounts any more. */
export async function resetListeners(call: BehaviourCall): Promise<void> {
  const { principal, release } = call;
  const { sender } = call.ctx;
  if (sender === undefined) return;
  for (const { account_id: account } of await callersAccounts(call)) {
    const scope = { principal, account, release: release.version };
    if ((await sender.notifications.list(scope)).length > 0) await sender.notifications.sync(scope, []);
  }
}

/** Bank details are written and never shown again. */
const withoutBank = ({ bank: _, ...entity }: JsonObject): JsonObject => entity;
