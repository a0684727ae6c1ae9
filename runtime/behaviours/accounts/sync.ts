import type { JsonObject, ProtocolError } from "../../contract/index.js";
import type { NotificationConfig } from "../../sender/types.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account, AccountState } from "../ports/accounts.js";
import {
  type AccountRef,
  accountId,
  callersAccounts,
  findAccount,
  openAccount,
  saveAccount,
  shownAccount,
} from "./accounts.js";

interface WantedAccount extends AccountRef {
  readonly billing?: string;
  readonly billing_entity?: JsonObject;
  readonly payment_terms?: string;
  readonly notification_configs?: readonly NotificationConfig[];
  /** Some releases name the account in a member of its own. */
  readonly account?: AccountRef;
}

interface Wanted {
  readonly accounts: readonly WantedAccount[];
  readonly delete_missing?: boolean;
  readonly dry_run?: boolean;
}

/** `sync_accounts`: each account named is made or brought up to date. */
export const syncAccounts: ToolBehaviour = async (request: Wanted, call) => {
  const dryRun = request.dry_run === true;
  const results: JsonObject[] = [];
  for (const wanted of request.accounts) results.push(await syncOne(call, wanted, dryRun));
  if (request.delete_missing === true) {
    // What could not be brought up to date is named all the same.
    const named = new Set(request.accounts.map((wanted) => accountId(call, refOf(wanted))));
    for (const one of await callersAccounts(call)) {
      if (named.has(one.account_id) || !leavable.has(one.status)) continue;
      const closed: Account = { ...one, status: "closed" };
      if (!dryRun) saveAccount(call, closed);
      results.push(lineOf(closed, "updated"));
    }
  }
  return call.answer({ accounts: results, ...(dryRun && { dry_run: true }) });
};

const refOf = (wanted: WantedAccount): AccountRef => wanted.account ?? wanted;

/** States that a buyer may end by himself: what a seller has put an account into, it has to answer for. */
const leavable: ReadonlySet<AccountState> = new Set(["active", "pending_approval"]);

const lineOf = (account: Account, action: string): JsonObject => {
  const { governance_agents: _, ...shown } = shownAccount(account) as JsonObject;
  return { ...shown, action };
};

async function syncOne(call: BehaviourCall, wanted: WantedAccount, dryRun: boolean): Promise<JsonObject> {
  const ref = refOf(wanted);
  const before = await findAccount(call, accountId(call, ref));
  const { billing, billing_entity, payment_terms } = wanted;
  if (billing !== undefined && !call.ports.accounts.billing.includes(billing)) return refused(call, wanted, billing);
  const after: Account = {
    ...(before ?? (await openAccount(call, ref))),
    ...(billing !== undefined && { billing }),
    ...(billing_entity !== undefined && { billing_entity: withoutBank(billing_entity) }),
    ...(payment_terms !== undefined && { payment_terms }),
    ...(ref.sandbox !== undefined && { sandbox: ref.sandbox }),
    // A closed account that is named again is opened again, where its seller would open it.
    ...(before?.status === "closed" && { status: (await openAccount(call, ref)).status }),
  };
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(after);
  const listening = dryRun ? {} : await syncConfigs(call, after.account_id, wanted.notification_configs);
  if ("error" in listening) return failedLine(wanted, after, listening.error);
  if (!same && !dryRun) saveAccount(call, after, before === undefined ? "created" : "updated");
  return {
    ...(wanted.account !== undefined && { account: wanted.account }),
    ...lineOf(after, before === undefined ? "created" : same ? "unchanged" : "updated"),
    ...listening,
  };
}

/** Who is told of the account: those that are given instead of those it had; those it has where none are given. */
async function syncConfigs(
  call: BehaviourCall,
  account: string,
  configs: readonly NotificationConfig[] | undefined,
): Promise<{ readonly error: ProtocolError } | { readonly notification_configs?: readonly object[] }> {
  const { sender } = call.ctx;
  if (sender === undefined || !call.shapes.answer("sync_accounts").has("accounts", "*", "notification_configs"))
    return {};
  const scope = { principal: call.principal, account, release: call.release.version };
  if (configs === undefined) return { notification_configs: await sender.notifications.list(scope) };
  const taken = await sender.notifications.sync(scope, configs);
  return taken.ok ? { notification_configs: taken.configs } : { error: taken.error };
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

const failedLine = (wanted: WantedAccount, { brand, operator }: Account, error: ProtocolError): JsonObject => ({
  ...(wanted.account !== undefined && { account: wanted.account }),
  brand,
  operator,
  action: "failed",
  status: "rejected",
  errors: [error],
});

/** Bank details are written and never shown again. */
const withoutBank = ({ bank: _, ...entity }: JsonObject): JsonObject => entity;

const refused = (call: BehaviourCall, wanted: WantedAccount, billing: string): JsonObject => ({
  ...wanted,
  action: "failed",
  status: "rejected",
  errors: [
    {
      code: call.shapes.knowsError("BILLING_NOT_SUPPORTED") ? "BILLING_NOT_SUPPORTED" : "UNSUPPORTED_FEATURE",
      message: `billing by ${billing} is not offered here`,
      field: "billing",
      recovery: "correctable",
    },
  ],
});
