import { ScenarioError, type Scenarios, textParam } from "../controller/scenario.js";
import { type AccountState, account, accountStates, saveAccount } from "./accounts.js";

/** `force_account_status`: puts an account into any state. */
export const scenarios: Scenarios = {
  force_account_status(params, call) {
    const id = textParam(params, "account_id");
    const status = textParam(params, "status");
    const found = account(call, id);
    if (found === undefined) throw new ScenarioError("NOT_FOUND", `no account ${id}`);
    if (!(accountStates as readonly string[]).includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of an account`, found.status);
    const previous = found.status;
    saveAccount(call, { ...found, status: status as AccountState });
    return { previous_state: previous, current_state: status };
  },
};
