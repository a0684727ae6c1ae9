/** Whether delivery kept to a list. */
import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { findList, type KeptList, type ListNamed, resolution } from "../lists/lists.js";
import type { PropertyIdentifier } from "../ports/properties.js";
import {
  identity,
  meets,
  type PropertyFilters,
  propertiesByIdentity,
  propertyLists,
  resolveProperties,
} from "./resolve.js";

interface Delivered {
  readonly identifier: PropertyIdentifier;
  readonly impressions: number;
  readonly record_id?: string;
  readonly sales_agent_url?: string;
}

interface Wanted extends ListNamed {
  readonly records: readonly Delivered[];
  readonly include_compliant?: boolean;
}

const states = ["compliant", "non_compliant", "not_covered", "unidentified"] as const;
const authorities = ["authorized", "unauthorized", "unknown"] as const;
type Authority = (typeof authorities)[number];

interface Judged {
  readonly record: Delivered;
  readonly state: (typeof states)[number];
  readonly features: readonly JsonObject[];
  /** Undefined where the record names no seller. */
  readonly authority: Authority | undefined;
}

/** Judges one record: is it in the list, and if not, why? */
async function judgeBy(
  call: BehaviourCall,
  list: KeptList,
): Promise<(record: Delivered) => Pick<Judged, "state" | "features">> {
  const { identifiers, gaps } = await resolveProperties(call, list);
  const known = await propertiesByIdentity(call);
  const types = new Set(call.ports.properties.identifierTypes);
  const allowed = new Set(identifiers.map(identity));
  const uncovered = new Set(Object.values(gaps).flat().map(identity));
  const { exclude_identifiers = [], feature_requirements = [] } = (list.filters ?? {}) as PropertyFilters;
  const excluded = new Set(exclude_identifiers.map(identity));
  return ({ identifier }) => {
    const key = identity(identifier);
    if (!types.has(identifier.type)) return { state: "unidentified", features: [] };
    if (allowed.has(key)) return { state: uncovered.has(key) ? "not_covered" : "compliant", features: [] };
    const broken = feature_requirements.filter((requirement) => meets(known.get(key), requirement) === false);
    const features = broken.map(({ feature_id, policy_id }) => ({
      feature_id,
      status: "failed",
      explanation: `${identifier.value} does not meet what the list requires of ${feature_id}.`,
      ...(policy_id !== undefined && { policy_id }),
    }));
    const out = {
      feature_id: excluded.has(key) ? "record:excluded" : "record:list_membership",
      status: "failed",
      explanation: `${identifier.value} is ${excluded.has(key) ? "excluded from" : "not in"} the list.`,
    };
    return { state: "non_compliant", features: [...features, out] };
  };
}

/** By the publisher's own file, as far as the port reads them. */
async function authorityOf(call: BehaviourCall, record: Delivered): Promise<Authority | undefined> {
  const { sales_agent_url: salesAgentUrl, identifier } = record;
  if (salesAgentUrl === undefined) return undefined;
  const { properties } = call.ports;
  const publisherDomain = (await propertiesByIdentity(call)).get(identity(identifier))?.publisher_domain;
  const key = `authorized ${JSON.stringify([salesAgentUrl, identity(identifier)])}`;
  const said = await call.once(key, async () =>
    properties.authorized?.({ salesAgentUrl, identifier, publisherDomain }),
  );
  return said === undefined ? "unknown" : said ? "authorized" : "unauthorized";
}

const impressionsOf = (judged: readonly Judged[]): number =>
  judged.reduce((total, { record }) => total + record.impressions, 0);

/** How many records, and impressions of them, are each of these. */
const counted = <K extends string>(
  names: readonly K[],
  judged: readonly Judged[],
  kindOf: (one: Judged) => K | undefined,
): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const those = judged.filter((one) => kindOf(one) === name);
      return [
        [`${name}_records`, those.length],
        [`${name}_impressions`, impressionsOf(those)],
      ];
    }),
  );

function authorizations(judged: readonly Judged[]): JsonObject {
  const sold = judged.filter(({ authority }) => authority !== undefined);
  if (sold.length === 0) return {};
  return {
    authorization_summary: {
      records_checked: sold.length,
      impressions_checked: impressionsOf(sold),
      ...counted(authorities, sold, ({ authority }) => authority),
    },
  };
}

const shown = ({ record, state, features, authority }: Judged): JsonObject => ({
  identifier: record.identifier,
  impressions: record.impressions,
  status: state,
  ...(record.record_id !== undefined && { record_id: record.record_id }),
  ...(features.length > 0 && { features }),
  ...(authority !== undefined && {
    authorization: {
      status: authority,
      sales_agent_url: record.sales_agent_url,
      ...(authority === "unauthorized" && {
        violation: { code: "not_authorized", message: "The publisher's file does not list this agent for it." },
      }),
    },
  }),
});

/** `validate_property_delivery`: did delivery keep to the list? */
export const validatePropertyDelivery: ToolBehaviour = async (request: Wanted, call) => {
  const list = await findList(call, propertyLists, request);
  const judge = await judgeBy(call, list);
  const judged: Judged[] = [];
  for (const record of request.records)
    judged.push({ record, ...judge(record), authority: await authorityOf(call, record) });
  const told =
    request.include_compliant === true
      ? judged
      : judged.filter(({ state, authority }) => state !== "compliant" || authority === "unauthorized");
  return call.answer({
    list_id: list.list_id,
    compliant: judged.every(({ state }) => state !== "non_compliant"),
    summary: {
      total_records: judged.length,
      total_impressions: impressionsOf(judged),
      ...counted(states, judged, ({ state }) => state),
    },
    ...authorizations(judged),
    results: told.map(shown),
    validated_at: call.time,
    list_resolved_at: resolution(call).resolved_at,
  });
};
