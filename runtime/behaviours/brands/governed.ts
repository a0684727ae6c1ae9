/** Money of a governed account is spent on its governance agent's word alone, or as its plan allows. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { denialOf } from "../governance/authority.js";
import type { Account } from "../ports/accounts.js";
import type { RightsPrice } from "../ports/brands.js";
import type { Obstacle } from "./offerings.js";

export interface LicenceCommitment {
  readonly tool: string;
  /** As received: it may carry the word of an approval. */
  readonly request: JsonObject;
  /** What it costs; undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
}

/** What a licence will cost; undefined where it is paid by the impression and nobody says how many. */
export function costOf({ model, price }: RightsPrice, impressions: number | undefined): number | undefined {
  if (model === "flat_rate") return price;
  return impressions === undefined ? undefined : (price * impressions) / 1_000;
}

/** What keeps a commitment from being made; undefined where the account asks nobody, or it may be. */
export async function ungoverned(
  call: BehaviourCall,
  account: Account | undefined,
  commitment: LicenceCommitment,
): Promise<Obstacle | undefined> {
  if (account === undefined) return undefined;
  const denial = await denialOf(call, account, { ...commitment, tokenRequired: true });
  if (denial === undefined) return undefined;
  const suggestions = ["Ask it by check_governance, and send the governance_context of its approval."];
  return { reason: denial.message, suggestions };
}
