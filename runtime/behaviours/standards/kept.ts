/** Content standards as they are kept, and who may see them. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { ContentQuestion, WrittenPolicy } from "../ports/policy.js";

interface Scope {
  readonly languages_any?: readonly string[];
  readonly countries_all?: readonly string[];
  readonly channels_any?: readonly string[];
  readonly description?: string;
}

/** Parts that a request states, kept as they are. */
export interface StatedStandards {
  readonly scope?: Scope;
  readonly policies?: readonly WrittenPolicy[];
  readonly registry_policy_ids?: readonly string[];
  readonly calibration_exemplars?: ContentQuestion["exemplars"];
}

export interface KeptStandards extends StatedStandards {
  readonly standards_id: string;
  /** Whose they are; absent where they were made for no account. */
  readonly account_id?: string;
  readonly scope: Scope;
}

export interface StandardsNamed {
  readonly standards_id: string;
  /** Requests may name an account though not every release says so. */
  readonly account?: AccountRef;
}

export const standards = collection<KeptStandards>("content_standards");

export const accountIn = async (
  call: BehaviourCall,
  { account }: { readonly account?: AccountRef },
): Promise<string | undefined> => (account == null ? undefined : (await resolveAccount(call, account)).account_id);

/** @throws ToolError REFERENCE_NOT_FOUND, for another account's as well */
export async function findStandards(call: BehaviourCall, request: StandardsNamed): Promise<KeptStandards> {
  const found = await standards.get(call, call.principal, request.standards_id);
  const asked = await accountIn(call, request);
  const foreign = asked !== undefined && found?.account_id !== undefined && asked !== found.account_id;
  if (found === undefined || foreign)
    throw new ToolError("REFERENCE_NOT_FOUND", "there are no such content standards", { field: "standards_id" });
  return found;
}

/** @throws ToolError INVALID_REQUEST for standards without policies, with two of one id, or with one that could be the registry's */
export function checkPolicies({ policies = [], registry_policy_ids: registered = [] }: StatedStandards): void {
  if (policies.length + registered.length === 0) {
    const message = "standards need policies, or policies of the registry";
    throw new ToolError("INVALID_REQUEST", message, { field: "policies" });
  }
  const ids = policies.map(({ policy_id }) => policy_id);
  const named = ids.findIndex((id) => /[:/]/.test(id));
  if (named >= 0)
    throw new ToolError("INVALID_REQUEST", `${ids[named]} is a name as the registry's are: no colon, no slash`, {
      field: `policies[${named}].policy_id`,
    });
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw new ToolError("INVALID_REQUEST", `policy ${twice} is there twice`, {
      field: `policies[${ids.lastIndexOf(twice)}].policy_id`,
    });
}

/** A page is one whatever else is said beside it. */
const isArtifact = ({ type, value }: JsonObject): boolean => type !== "url" || value === undefined;

/** Exemplars as answers have them: a page that was named by its URL alone has not become an artifact. */
const shownExemplars = ({ pass, fail }: ContentQuestion["exemplars"]): JsonObject => ({
  ...(pass !== undefined && { pass: pass.filter(isArtifact) }),
  ...(fail !== undefined && { fail: fail.filter(isArtifact) }),
});

/** Standards as the wire has them. */
export function shownStandards(kept: KeptStandards): JsonObject {
  const { account_id: _account, scope, policies = [], calibration_exemplars: exemplars, ...more } = kept;
  const { description, ...where } = scope;
  return {
    ...more,
    ...(exemplars !== undefined && { calibration_exemplars: shownExemplars(exemplars) }),
    ...(description !== undefined && { name: description }),
    ...where,
    ...(policies.length > 0 && { policies }),
  };
}
