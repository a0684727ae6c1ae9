import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { listOf, resolution } from "../lists/lists.js";
import { type Identifier, identity, knownTypes, properties, propertyOf } from "./catalog.js";
import { type Filters, meets, propertyLists, resolveProperties } from "./resolve.js";

type Delivery = Request<"validate_property_delivery">;

interface Delivered {
  readonly identifier: Identifier;
  readonly impressions: number;
  readonly record_id?: string;
  readonly sales_agent_url?: string;
}

type State = "compliant" | "non_compliant" | "not_covered" | "unidentified";

interface Judged {
  readonly record: Delivered;
  readonly state: State;
  readonly features: JsonObject[];
}

/** Judges one record: is it in the list, and if not, why? */
function judgeWith(call: Call, list: ReturnType<typeof listOf>): (record: Delivered) => Judged {
  const { identifiers, gaps } = resolveProperties(call, list);
  const allowed = new Set(identifiers.map(identity));
  const uncovered = new Set(Object.values(gaps).flat().map(identity));
  const filters = (list.filters ?? {}) as Filters;
  const excluded = new Set((filters.exclude_identifiers ?? []).map(identity));
  const known = properties(call);
  return (record) => {
    const key = identity(record.identifier);
    if (!knownTypes.has(record.identifier.type)) return { record, state: "unidentified", features: [] };
    if (allowed.has(key)) return { record, state: uncovered.has(key) ? "not_covered" : "compliant", features: [] };
    const property = propertyOf(known, record.identifier);
    const failed = (filters.feature_requirements ?? []).filter((requirement) => meets(property, requirement) === false);
    const features = failed.map(({ feature_id, policy_id }) => ({
      feature_id,
      status: "failed",
      explanation: `${record.identifier.value} does not meet what the list requires of ${feature_id}.`,
      ...(policy_id !== undefined && { policy_id }),
    }));
    features.push({
      feature_id: excluded.has(key) ? "record:excluded" : "record:list_membership",
      status: "failed",
      explanation: `${record.identifier.value} is ${excluded.has(key) ? "excluded from" : "not in"} the list.`,
    });
    return { record, state: "non_compliant", features };
  };
}

function summary(judged: readonly Judged[]): JsonObject {
  const of = (state?: State) => judged.filter((one) => state === undefined || one.state === state);
  const impressions = (some: readonly Judged[]): number =>
    some.reduce((sum, { record }) => sum + record.impressions, 0);
  const states: readonly State[] = ["compliant", "non_compliant", "not_covered", "unidentified"];
  return {
    total_records: judged.length,
    total_impressions: impressions(judged),
    ...Object.fromEntries(
      states.flatMap((state) => [
        [`${state}_records`, of(state).length],
        [`${state}_impressions`, impressions(of(state))],
      ]),
    ),
  };
}

/** Whether a seller was authorized is for its publisher's file to say, which this agent does not read. */
function authorizations(judged: readonly Judged[]): JsonObject {
  const sold = judged.filter(({ record }) => record.sales_agent_url !== undefined);
  if (sold.length === 0) return {};
  const impressions = sold.reduce((sum, { record }) => sum + record.impressions, 0);
  return {
    authorization_summary: {
      records_checked: sold.length,
      impressions_checked: impressions,
      authorized_records: 0,
      authorized_impressions: 0,
      unauthorized_records: 0,
      unauthorized_impressions: 0,
      unknown_records: sold.length,
      unknown_impressions: impressions,
    },
  };
}

const shown = ({ record, state, features }: Judged): JsonObject => ({
  identifier: record.identifier,
  impressions: record.impressions,
  status: state,
  ...(record.record_id !== undefined && { record_id: record.record_id }),
  ...(features.length > 0 && { features }),
  ...(record.sales_agent_url !== undefined && {
    authorization: { status: "unknown", sales_agent_url: record.sales_agent_url },
  }),
});

/** `validate_property_delivery`: did delivery keep to the list? */
export function validatePropertyDelivery(call: Call, request: Delivery): JsonObject {
  const list = listOf(call, propertyLists, request);
  const judged = (request.records as readonly Delivered[]).map(judgeWith(call, list));
  const told = request.include_compliant === true ? judged : judged.filter(({ state }) => state !== "compliant");
  return {
    list_id: list.list_id,
    compliant: judged.every(({ state }) => state !== "non_compliant"),
    summary: summary(judged),
    ...authorizations(judged),
    results: told.map(shown),
    validated_at: call.now.toISOString(),
    list_resolved_at: resolution(call).resolved_at,
  };
}
