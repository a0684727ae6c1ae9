import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { type Account, account, accountId, accounts, newAccount, saveAccount } from "./accounts.js";

type Wanted = Request<"sync_accounts">["accounts"][number];

/** `sync_accounts`: each account named is made or brought up to date. */
export function syncAccounts(call: Call, request: Request<"sync_accounts">): JsonObject {
  const dryRun = request.dry_run === true;
  const results = request.accounts.map((wanted) => syncOne(call, wanted, dryRun));
  if (request.delete_missing === true && !dryRun) {
    const kept = new Set(results.map(({ account_id }) => account_id));
    for (const one of accounts(call)) if (!kept.has(one.account_id)) saveAccount(call, { ...one, status: "closed" });
  }
  return { accounts: results, ...(dryRun && { dry_run: true }) };
}

function syncOne(call: Call, wanted: Wanted, dryRun: boolean) {
  const before = account(call, accountId(call, wanted));
  const { billing, billing_entity, payment_terms, sandbox } = wanted;
  const after = {
    ...(before ?? newAccount(call, wanted)),
    ...(billing !== undefined && { billing }),
    ...(billing_entity !== undefined && { billing_entity }),
    ...(payment_terms !== undefined && { payment_terms }),
    ...(sandbox !== undefined && { sandbox }),
    // A closed account that is named again is opened again.
    ...(before?.status === "closed" && { status: "active" as const }),
  } satisfies Account;
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(after);
  if (!same && !dryRun) saveAccount(call, after);
  const { governance_agents: _, ...shown } = after as Account;
  return { ...shown, action: before === undefined ? "created" : same ? "unchanged" : "updated" };
}
