/** Licences as they are kept, and what answers show of them. */
import type { JsonObject } from "../../contract/index.js";
import type { AccountRef } from "../accounts/accounts.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { LicenceCredential } from "../ports/brands.js";
import { attested } from "./attestation.js";

/** What was agreed on; it stays so when the offering changes. */
export interface GrantTerms {
  readonly pricing_option_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly period?: string;
  readonly overage_cpm?: number;
  readonly uses: readonly string[];
  /** Dates such as 2027-03-31. */
  readonly start_date?: string;
  readonly end_date?: string;
  readonly impression_cap?: number;
}

export interface Grant {
  readonly grant_id: string;
  readonly offering_id: string;
  readonly brand_id: string;
  /** Domain of the house whose brand it is. */
  readonly domain: string;
  readonly right_type?: string;
  readonly buyer: { readonly domain: string; readonly brand_id?: string };
  /** Whose money it is. */
  readonly account?: AccountRef;
  readonly terms: GrantTerms;
  readonly countries?: readonly string[];
  readonly restrictions?: readonly string[];
  readonly disclosure?: string;
  /** What the campaign is, for who has to decide. */
  readonly description: string;
  readonly impressions?: number;
  readonly state: "pending" | "granted" | "revoked";
  readonly paused: boolean;
  /** Its first day. */
  readonly since: string;
  /** When it ends, ISO 8601. */
  readonly until: string;
  readonly credentials: readonly LicenceCredential[];
}

export const RIGHTS_GRANTS = "rights_grant";
export const grants = collection<Grant>(RIGHTS_GRANTS);

/** How long a licence lasts where the campaign names no end, in days. */
const OPEN_END_DAYS = 90;
const DAY_MS = 86_400_000;

/** The end of the last day, or of what is given where no day is named. */
export const licenceEnd = ({ now }: BehaviourCall, end: string | undefined): string =>
  new Date(end === undefined ? now.getTime() + OPEN_END_DAYS * DAY_MS : Date.parse(end) + DAY_MS - 1).toISOString();

export const isOver = ({ now }: BehaviourCall, { until }: Grant): boolean => Date.parse(until) < now.getTime();

/** Keys to make content with: the application's, or one of this agent's own. */
export async function withCredentials(call: BehaviourCall, grant: Grant): Promise<Grant> {
  const { grant_id: grantId, brand_id: brandId, offering_id: rightsId, until, terms } = grant;
  const given = await call.ports.brands.credentials?.({
    grantId,
    principal: call.principal,
    brandId,
    rightsId,
    uses: terms.uses,
    until,
  });
  const [known] = grant.credentials;
  const own: LicenceCredential = {
    provider: new URL(call.agentUrl).hostname,
    rights_key: known?.rights_key ?? `rk_${call.ctx.uuid().replaceAll("-", "")}`,
    uses: terms.uses,
    expires_at: until,
  };
  return { ...grant, credentials: given ?? [own] };
}

/** What buyers carry in their creatives, so that who serves them can tell what is allowed. */
function constraintOf(call: BehaviourCall, grant: Grant): JsonObject {
  const { grant_id: rights_id, terms, restrictions, disclosure } = grant;
  const status = grant.state === "revoked" ? "revoked" : grant.paused ? "paused" : "active";
  return {
    rights_id,
    rights_agent: { url: call.agentUrl, id: grant.brand_id },
    rights_holder: { domain: grant.domain, brand_id: grant.brand_id },
    uses: terms.uses,
    ...(grant.right_type !== undefined && { right_type: grant.right_type }),
    ...(terms.start_date !== undefined && { valid_from: new Date(terms.start_date).toISOString() }),
    valid_until: grant.until,
    ...(grant.countries !== undefined && { countries: grant.countries }),
    ...(terms.impression_cap !== undefined && { impression_cap: terms.impression_cap }),
    approval_status: "approved",
    grant_status: status,
    ...(restrictions !== undefined && { restrictions }),
    ...(disclosure !== undefined && { disclosure: { required: true, text: disclosure } }),
  };
}

/** The parts of a licence that answers have. Keys of one that is paused are not shown. */
export function licence(call: BehaviourToolCall, grant: Grant): JsonObject {
  // What is signed is what is shown, in the release's terms.
  const shown = call.shape.fit({ rights_constraint: constraintOf(call, grant) }).rights_constraint as JsonObject;
  const proven = call.shape.has("rights_constraint", "attestation_refs");
  return {
    rights_id: grant.grant_id,
    terms: grant.terms,
    generation_credentials: grant.paused ? [] : grant.credentials,
    rights_constraint: proven ? attested(call, { id: grant.grant_id, until: grant.until }, shown) : shown,
  };
}
