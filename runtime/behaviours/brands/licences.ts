/** Licences: what a buyer may do with rights, until when, and the credentials to do it. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { Scenarios } from "../frame/behaviour.js";
import { textParam } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { compactJws } from "../frame/jws.js";
import type { RightsPrice } from "../ports/brands.js";
import { findBrand } from "./identity.js";

/** A licence, at the price it was given at: a new price changes nothing of it. */
export interface Licence {
  readonly grant_id: string;
  /** Undefined where a test has put it there. */
  readonly offering_id?: string;
  readonly brand_id: string;
  /** Domain of the brand's house. */
  readonly house: string;
  readonly right_type?: string;
  readonly countries?: readonly string[];
  readonly price: RightsPrice;
  readonly uses: readonly string[];
  /** Dates such as 2027-03-31. */
  readonly start_date?: string;
  readonly end_date?: string;
  readonly impression_cap?: number;
  readonly restrictions?: readonly string[];
  /** What has to be said where it is used. */
  readonly disclosure?: string;
  readonly paused: boolean;
}

const licences = collection<Licence>("rights_licence");

export const saveLicence = (call: BehaviourCall, licence: Licence): void =>
  licences.put(call, call.principal, licence.grant_id, licence);

/** @throws ToolError REFERENCE_NOT_FOUND, for somebody else's as well */
export async function licenceOf(call: BehaviourCall, id: string): Promise<Licence> {
  const found = await licences.get(call, call.principal, id);
  if (found !== undefined) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "there is no such licence", { field: "rights_id" });
}

/** How long credentials live where the campaign names no end, in days. */
const OPEN_END_DAYS = 90;
const DAY_MS = 86_400_000;

const endOf = ({ now }: BehaviourCall, { end_date: end }: Licence): string =>
  new Date(end === undefined ? now.getTime() + OPEN_END_DAYS * DAY_MS : Date.parse(end) + DAY_MS - 1).toISOString();

/** The parts of a licence that answers have. */
export function shownLicence(call: BehaviourToolCall, licence: Licence): JsonObject {
  const { grant_id, uses, start_date, end_date, impression_cap } = licence;
  const { price: amount, currency, period, overage_cpm, pricing_option_id } = licence.price;
  const until = endOf(call, licence);
  return {
    rights_id: grant_id,
    terms: {
      pricing_option_id,
      amount,
      currency,
      uses,
      ...(period !== undefined && { period }),
      ...(overage_cpm !== undefined && { overage_cpm }),
      ...(start_date !== undefined && { start_date }),
      ...(end_date !== undefined && { end_date }),
      ...(impression_cap !== undefined && { impression_cap }),
    },
    generation_credentials: [
      {
        provider: new URL(call.agentUrl).hostname,
        rights_key: `rk_${call.ctx.uuid().replaceAll("-", "")}`,
        uses,
        expires_at: until,
      },
    ],
    rights_constraint: constraintOf(call, licence, until),
  };
}

/** What is said of how a licence is to be named where it is used. */
export const disclosureOf = ({ disclosure: text }: Licence): JsonObject => ({
  required: text !== undefined,
  ...(text !== undefined && { text }),
});

/** What a creative carries of a licence, so that whoever serves it can tell what it may be used for. */
function constraintOf(call: BehaviourToolCall, licence: Licence, until: string): JsonObject {
  const { grant_id, uses, start_date, impression_cap, brand_id, house, right_type, countries } = licence;
  const { restrictions, paused } = licence;
  const constraint = {
    rights_id: grant_id,
    rights_agent: { url: call.agentUrl, id: brand_id },
    rights_holder: { domain: house, brand_id },
    uses,
    ...(right_type !== undefined && { right_type }),
    ...(start_date !== undefined && { valid_from: new Date(start_date).toISOString() }),
    valid_until: until,
    ...(countries !== undefined && { countries }),
    ...(impression_cap !== undefined && { impression_cap }),
    approval_status: "approved",
  };
  if (!call.shape.has("rights_constraint", "attestation_refs")) return constraint;
  const bound = {
    ...constraint,
    grant_status: paused ? "paused" : "active",
    ...(restrictions !== undefined && { restrictions }),
    disclosure: disclosureOf(licence),
  };
  const content_digest = `sha256:${createHash("sha256")
    .update(canonicalize(bound) ?? "")
    .digest("hex")}`;
  return { ...bound, content_digest, attestation_refs: [attestation(call, bound, content_digest)] };
}

/** Tokens of RFC 7519. */
const JWT = "https://www.rfc-editor.org/rfc/rfc7519";

/** The grant as its agent has signed it: it comes along, and need not be fetched. */
function attestation(call: BehaviourToolCall, bound: JsonObject, content_digest: string): JsonObject {
  const { rights_id, rights_holder, grant_status, valid_until } = bound;
  // The release's own names of what is claimed, and of what.
  const named = (...path: readonly string[]): unknown =>
    call.shape.values("rights_constraint", "attestation_refs", "*", ...path)?.[0];
  const subject = {
    type: "resource",
    resource_type: named("subject", "resource_type"),
    namespace: call.agentUrl,
    id: rights_id,
    content_digest,
  };
  const claim_type = named("claim_type");
  const issuer = { type: "brand", brand: rights_holder };
  const claims = {
    iss: call.agentUrl,
    iat: Math.floor(call.now.getTime() / 1_000),
    exp: Math.floor(Date.parse(String(valid_until)) / 1_000),
    issuer,
    claim_type,
    subject,
    grant_status,
  };
  const value = compactJws(call, "rights-grant+jwt", claims);
  return { issuer, claim_type, subject, embedded_credential: { format: JWT, value } };
}

/** `seed_rights_grant`: a licence that is there before anybody acquires it. */
export const licenceScenarios: Scenarios = {
  async seed_rights_grant(params, call) {
    const id = textParam(params, "rights_id");
    const { brand_id, pricing_option_id, uses, ...terms } = (params.fixture ?? {}) as Partial<Licence> & JsonObject;
    const own = Array.isArray(uses) ? (uses as readonly string[]) : ["commercial"];
    const { start_date, end_date, impression_cap, paused = false } = terms;
    const brandId = typeof brand_id === "string" ? brand_id : id;
    const brand = await findBrand(call, brandId);
    saveLicence(call, {
      grant_id: id,
      brand_id: brandId,
      // Of a brand that only the test knows: this agent speaks for it.
      house: brand?.house.domain ?? new URL(call.agentUrl).hostname,
      price: {
        pricing_option_id: typeof pricing_option_id === "string" ? pricing_option_id : "seeded",
        model: "flat_rate",
        price: 0,
        currency: "USD",
        uses: own,
      },
      uses: own,
      ...(start_date !== undefined && { start_date }),
      ...(end_date !== undefined && { end_date }),
      ...(impression_cap !== undefined && { impression_cap }),
      paused,
    });
    return { message: `licence ${id} is there` };
  },
};
