import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import type { ContentPolicy, Standards } from "./evaluate.js";

interface Scope {
  readonly languages_any?: readonly string[];
  readonly countries_all?: readonly string[];
  readonly channels_any?: readonly string[];
  readonly description?: string;
}

interface KeptStandards {
  readonly standards_id: string;
  /** Whose they are; empty where they were made for no account. */
  readonly account_id: string;
  readonly scope: Scope;
  readonly policies?: readonly ContentPolicy[];
  readonly registry_policy_ids?: readonly string[];
  readonly calibration_exemplars?: { readonly pass?: readonly JsonObject[]; readonly fail?: readonly JsonObject[] };
}

const KIND = "content_standards";

/** Requests may name an account though not every release says so. */
const accountOf = (call: Call, request: object): string => {
  const ref = (request as { account?: AccountRef }).account;
  return ref === undefined ? "" : resolveAccount(call, ref).account_id;
};

/** @throws ToolError REFERENCE_NOT_FOUND, for another account's as well */
function standardsOf(call: Call, request: { standards_id: string }): KeptStandards {
  const found = call.documents.get<KeptStandards>(KIND, call.principal, request.standards_id);
  const asked = accountOf(call, request);
  if (found === undefined || (asked !== "" && found.account_id !== "" && asked !== found.account_id)) {
    throw new ToolError("REFERENCE_NOT_FOUND", "there are no such content standards", {
      field: "standards_id",
    });
  }
  return found;
}

/** What judging takes of them. */
export function judgingStandards(call: Call, request: { standards_id: string }): Standards {
  const { policies = [], scope, calibration_exemplars: exemplars } = standardsOf(call, request);
  return {
    policies,
    ...(scope.languages_any !== undefined && { languages_any: scope.languages_any }),
    ...(exemplars !== undefined && { exemplars }),
  };
}

function checkPolicies({ policies = [], registry_policy_ids: registry = [] }: Partial<KeptStandards>): void {
  if (policies.length + registry.length === 0) {
    throw new ToolError("INVALID_REQUEST", "standards need policies, or policies of the registry", {
      field: "policies",
    });
  }
  const ids = policies.map(({ policy_id }) => policy_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw new ToolError("INVALID_REQUEST", `policy ${twice} is there twice`, {
      field: `policies[${ids.lastIndexOf(twice)}].policy_id`,
    });
  }
}

/** Parts that a request states, to keep as they are. */
function stated(request: object): Partial<KeptStandards> {
  const parts = ["scope", "policies", "registry_policy_ids", "calibration_exemplars"];
  return Object.fromEntries(Object.entries(request).filter(([key]) => parts.includes(key)));
}

export function createStandards(call: Call, request: Request<"create_content_standards">): JsonObject {
  const kept: KeptStandards = {
    standards_id: call.id("cs"),
    account_id: accountOf(call, request),
    scope: {},
    ...stated(request),
  };
  checkPolicies(kept);
  call.documents.put(KIND, call.principal, kept.standards_id, kept);
  return { standards_id: kept.standards_id };
}

/** What is stated replaces what was there, part by part; content is judged by it from the next call on. */
export function updateStandards(call: Call, request: Request<"update_content_standards">): JsonObject {
  const kept: KeptStandards = { ...standardsOf(call, request), ...stated(request) };
  checkPolicies(kept);
  call.documents.put(KIND, call.principal, kept.standards_id, kept);
  return { success: true, standards_id: kept.standards_id };
}

/** Standards as the wire has them. */
function shown({
  standards_id,
  scope,
  policies,
  calibration_exemplars,
  registry_policy_ids,
}: KeptStandards): JsonObject {
  const { description, ...where } = scope;
  return {
    standards_id,
    ...(description !== undefined && { name: description }),
    ...where,
    ...(policies !== undefined && policies.length > 0 && { policies }),
    ...(registry_policy_ids !== undefined && { registry_policy_ids }),
    ...(calibration_exemplars !== undefined && { calibration_exemplars }),
  };
}

export const getStandards = (call: Call, request: Request<"get_content_standards">): JsonObject =>
  shown(standardsOf(call, request));

/** `list_content_standards`: those that have a say for any of the languages and channels, and all of the countries. */
export function listStandards(call: Call, request: Request<"list_content_standards">): JsonObject {
  const { languages, channels, countries } = request;
  const account = accountOf(call, request);
  const overlaps = (asked: readonly string[] | undefined, own: readonly string[] | undefined): boolean =>
    asked === undefined || own === undefined || asked.some((one) => own.includes(one));
  const found = call.documents
    .list<KeptStandards>(KIND, call.principal)
    .filter(
      ({ account_id, scope }) =>
        (account === "" || account === account_id) &&
        overlaps(languages, scope.languages_any) &&
        overlaps(channels, scope.channels_any) &&
        overlaps(countries, scope.countries_all),
    );
  const { items, pagination } = page(found, request.pagination, ({ standards_id }) => standards_id);
  return { standards: items.map(shown), pagination };
}
