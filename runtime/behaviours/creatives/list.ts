import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, accountId, resolveAccount } from "../accounts/accounts.js";
import { buysOf } from "../buys/buys.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, PAGE_SIZE, type PageWanted } from "../frame/page.js";
import { type Creative, creativesOf, mayUse } from "../library/creatives.js";
import { localizationShown } from "../library/localization.js";
import { assignedPlaces, type CreativeFilters, type CreativePlace, fitsFilters } from "./filter.js";
import { identityShown } from "./identity.js";
import { activitySubject } from "./transition.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly filters?: CreativeFilters;
  /** Where some callers name them, beside the filters. */
  readonly creative_ids?: readonly string[];
  readonly sort?: { readonly field?: string; readonly direction?: string };
  readonly pagination?: PageWanted;
  readonly fields?: readonly string[];
  readonly include_assignments?: boolean;
  readonly assignment_limit?: number;
  readonly include_items?: boolean;
  readonly include_variables?: boolean;
  readonly include_pricing?: boolean;
  readonly include_snapshot?: boolean;
  readonly include_purged?: boolean;
  readonly include_webhook_activity?: boolean;
  readonly webhook_activity_limit?: number;
}

/** Packages shown of one creative where the request does not say. */
const ASSIGNMENTS = 50;

/** `list_creatives`: the account's library, or that of all of the caller's accounts. */
export const listLibrary: ToolBehaviour = async (request: Wanted, call) => {
  const buys = await buysOf(call);
  const account = request.account === undefined ? undefined : (await resolveAccount(call, request.account)).account_id;
  const all = (await creativesOf(call, { purged: request.include_purged === true })).filter(
    (one) => account === undefined || mayUse(account, one),
  );
  const places = assignedPlaces(all, account === undefined ? buys : buys.filter((one) => one.account_id === account));
  // No schema says so: what is no list names none.
  const named = Array.isArray(request.creative_ids) ? request.creative_ids : undefined;
  const { accounts } = request.filters ?? {};
  const accountIds = accounts && (await Promise.all(accounts.map((ref) => accountId(call, ref))));
  const filters = { ...(named !== undefined && { creative_ids: named }), ...request.filters, accountIds };
  const listed = (one: Creative) => fitsFilters(one, filters, places.get(one.creative_id) ?? []);
  const sorted = sort(all, request, places);
  const { items, pagination } = listPage(sorted, request.pagination, ({ creative_id: id }) => id, {
    ...PAGE_SIZE,
    listed,
  });
  const shownHere = (one: Creative) => shown(call, one, request, places.get(one.creative_id) ?? []);
  return call.answer({
    query_summary: {
      total_matching: pagination.total_count,
      returned: items.length,
      filters_applied: Object.keys(request.filters ?? {}),
    },
    pagination,
    creatives: (await Promise.all(items.map(shownHere))).map((one) => projected(one, request.fields)),
  });
};

/** The newest first, unless the request wants another order. */
function sort(
  all: Creative[],
  { sort: wanted }: Wanted,
  places: ReadonlyMap<string, readonly CreativePlace[]>,
): Creative[] {
  const field = wanted?.field ?? "created_date";
  const keyOf = (one: Creative): string | number =>
    field === "assignment_count" ? (places.get(one.creative_id)?.length ?? 0) : one[field as "name"];
  const sign = (wanted?.direction ?? "desc") === "desc" ? -1 : 1;
  return all.sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x < y ? -sign : x > y ? sign : a.creative_id < b.creative_id ? -1 : 1;
  });
}

/** Fields of an answer that the word for another one brings with it. */
const bundled: Readonly<Record<string, readonly string[]>> = {
  concept: ["concept_id", "concept_name"],
  localization: ["localization_unavailable", "assets", "format_id", "format_kind", "format_option_ref"],
  format_kind: ["format_option_ref"],
};

/** What every line has, whatever is asked for. */
const always = [
  ...["creative_id", "name", "status", "created_date", "updated_date", "purge", "webhook_activity"],
  // Schemas of every release want one of them.
  ...["format_id", "format_kind"],
];

const projected = (one: JsonObject, fields: readonly string[] | undefined): JsonObject => {
  if (fields === undefined) return one;
  const wanted = new Set([...always, ...fields, ...fields.flatMap((name) => bundled[name] ?? [])]);
  return Object.fromEntries(Object.entries(one).filter(([name]) => wanted.has(name)));
};

async function shown(
  call: BehaviourCall,
  one: Creative,
  request: Wanted,
  places: readonly CreativePlace[],
): Promise<JsonObject> {
  const { creative_id, assets, tags, localization, purge, pricing_options: prices } = one;
  const { items, variables, ...more } = one.more ?? {};
  return {
    ...more,
    creative_id,
    name: one.name,
    ...(await identityShown(call, one)),
    status: one.status,
    created_date: one.created_date,
    updated_date: one.updated_date,
    ...(purge === undefined ? { assets } : { purge }),
    ...(tags !== undefined && { tags }),
    ...(localization !== undefined && purge === undefined && { localization: localizationShown(localization, assets) }),
    ...(request.include_items === true && items !== undefined && { items }),
    ...(request.include_variables === true && variables !== undefined && { variables }),
    ...(request.include_assignments !== false && { assignments: assignmentsShown(places, request) }),
    ...(request.include_pricing === true &&
      request.account !== undefined &&
      prices !== undefined && {
        pricing_options: prices,
      }),
    ...(request.include_snapshot === true && { snapshot_unavailable_reason: "SNAPSHOT_UNSUPPORTED" }),
    ...(request.include_webhook_activity === true && { webhook_activity: await activityOf(call, one, request) }),
  };
}

function assignmentsShown(places: readonly CreativePlace[], { assignment_limit: most = ASSIGNMENTS }: Wanted) {
  const rows = places.slice(0, most);
  return {
    assignment_count: places.length,
    returned_assignment_count: rows.length,
    ...(rows.length < places.length && { assignments_truncated: true }),
    assigned_packages: rows,
  };
}

/** What was sent to this caller about a creative, newest first. */
const activityOf = (call: BehaviourCall, { creative_id }: Creative, { webhook_activity_limit: limit }: Wanted) =>
  call.ctx.sender?.activity({
    principal: call.principal,
    subject: activitySubject(creative_id),
    ...(limit !== undefined && { limit }),
  }) ?? [];
