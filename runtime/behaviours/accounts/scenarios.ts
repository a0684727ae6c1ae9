import type { JsonObject } from "../../contract/index.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import { type AccountState, accountStates } from "../ports/accounts.js";
import { type AccountRef, findAccount, openAccount, saveAccount } from "./accounts.js";

/** `force_account_status` puts an account into any state; `seed_account` opens one. */
export const accountScenarios: Scenarios = {
  async force_account_status(params, call) {
    const id = textParam(params, "account_id");
    const status = textParam(params, "status");
    const found = await findAccount(call, id);
    if (found === undefined) throw new ScenarioError("NOT_FOUND", `no account ${id}`);
    if (!(accountStates as readonly string[]).includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of an account`, found.status);
    saveAccount(call, { ...found, status: status as AccountState });
    return { previous_state: found.status, current_state: status };
  },
  async seed_account(params, call) {
    const id = textParam(params, "account_id");
    const { account_id: _, ...fixture } = (params.fixture ?? {}) as JsonObject & AccountRef;
    // What it is bound to is said of it, and not asked for: a test may want an account of another day.
    const { currency: _currency, timezone: _timezone, ...ref } = fixture;
    const opened = await openAccount(call, { ...ref, account_id: id });
    const { brand, operator, name, status, sandbox, ...more } = fixture as Record<string, never>;
    const named = { brand, operator, name, status, sandbox };
    const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
    saveAccount(call, { ...opened, ...given, more });
    return { message: `account ${id} is there` };
  },
};
