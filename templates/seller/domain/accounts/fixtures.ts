/** The account a caller without credentials finds; whoever has credentials starts with none. */
import type { Fixture } from "../../documents.js";
import { type Account, accountIdOf } from "./accounts.js";

/** Who calls where no `auth` is given to createSeller. */
const NOBODY = "anonymous";

const demo: Account = {
  account_id: accountIdOf(NOBODY, { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" }),
  name: "acmeoutdoor.example c/o pinnacle-agency.example",
  status: "active",
  brand: { domain: "acmeoutdoor.example" },
  operator: "pinnacle-agency.example",
  billing: "operator",
  payment_terms: "net_30",
  account_scope: "operator_brand",
};

export const fixtures: readonly Fixture[] = [{ kind: "account", owner: NOBODY, id: demo.account_id, body: demo }];
