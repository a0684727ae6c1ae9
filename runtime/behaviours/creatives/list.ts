import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { buysOf, type MediaBuy } from "../buys/buys.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { type Creative, creativesOf, EVERY_ACCOUNT } from "../library/creatives.js";
import type { FormatId } from "../ports/creatives.js";

type Times = "created_after" | "created_before" | "updated_after" | "updated_before";

interface Filters extends Partial<Record<Times, string>> {
  readonly statuses?: readonly string[];
  readonly tags?: readonly string[];
  readonly tags_any?: readonly string[];
  readonly name_contains?: string;
  readonly creative_ids?: readonly string[];
  readonly format_ids?: readonly FormatId[];
  readonly media_buy_ids?: readonly string[];
  readonly assigned_to_packages?: readonly string[];
  readonly unassigned?: boolean;
}

interface Wanted {
  readonly account?: AccountRef;
  readonly filters?: Filters;
  readonly sort?: { readonly field?: string; readonly direction?: string };
  readonly pagination?: PageWanted;
  readonly include_assignments?: boolean;
  readonly include_pricing?: boolean;
}

interface Place {
  readonly media_buy_id: string;
  readonly package_id: string;
  readonly assigned_date: string;
}

/** `list_creatives`: the account's library, or that of all of the caller's accounts. */
export const listLibrary: ToolBehaviour = async (request: Wanted, call) => {
  const places = placesOf(await buysOf(call));
  const account = request.account === undefined ? undefined : (await resolveAccount(call, request.account)).account_id;
  const all = (await creativesOf(call)).filter(
    ({ account_id }) => account === undefined || [account, EVERY_ACCOUNT].includes(account_id),
  );
  const fitting = all.filter((one) => fits(one, request.filters ?? {}, places.get(one.creative_id) ?? []));
  const sorted = sort(fitting, request, places);
  const { items, pagination } = listPage(sorted, request.pagination, ({ creative_id }) => creative_id);
  const assigned = request.include_assignments !== false;
  const priced = request.include_pricing === true && request.account !== undefined;
  return call.answer({
    query_summary: {
      total_matching: sorted.length,
      returned: items.length,
      filters_applied: Object.keys(request.filters ?? {}),
    },
    pagination,
    creatives: items.map((one) => ({
      ...shown(one, assigned ? (places.get(one.creative_id) ?? []) : undefined),
      ...(priced && one.pricing_options !== undefined && { pricing_options: one.pricing_options }),
    })),
  });
};

function placesOf(buys: readonly MediaBuy[]): Map<string, Place[]> {
  const places = new Map<string, Place[]>();
  for (const { media_buy_id, packages, updated_at } of buys)
    for (const { package_id, creative_assignments } of packages)
      for (const { creative_id } of creative_assignments)
        places.set(creative_id, [
          ...(places.get(creative_id) ?? []),
          { media_buy_id, package_id, assigned_date: updated_at },
        ]);
  return places;
}

function fits(one: Creative, filters: Filters, places: readonly Place[]): boolean {
  const { statuses, tags, tags_any, name_contains, creative_ids, format_ids } = filters;
  const { media_buy_ids, assigned_to_packages, unassigned } = filters;
  const own = one.tags ?? [];
  return (
    // What is archived is asked for by name.
    (statuses === undefined
      ? one.status !== "archived" || creative_ids !== undefined
      : (statuses as readonly string[]).includes(one.status)) &&
    (tags === undefined || tags.every((tag) => own.includes(tag))) &&
    (tags_any === undefined || tags_any.some((tag) => own.includes(tag))) &&
    (name_contains === undefined || one.name.toLowerCase().includes(name_contains.toLowerCase())) &&
    (creative_ids === undefined || (creative_ids as readonly string[]).includes(one.creative_id)) &&
    (format_ids === undefined ||
      format_ids.some(({ agent_url, id }) => agent_url === one.format_id?.agent_url && id === one.format_id.id)) &&
    (media_buy_ids === undefined || places.some(({ media_buy_id }) => media_buy_ids.includes(media_buy_id))) &&
    (assigned_to_packages === undefined ||
      places.some(({ package_id }) => assigned_to_packages.includes(package_id))) &&
    (unassigned === undefined || unassigned === (places.length === 0)) &&
    inTime(one, filters)
  );
}

const inTime = ({ created_date, updated_date }: Creative, filters: Filters): boolean => {
  const { created_after, created_before, updated_after, updated_before } = filters;
  const after = (time: string, bound: string | undefined) =>
    bound === undefined || Date.parse(time) > Date.parse(bound);
  const before = (time: string, bound: string | undefined) =>
    bound === undefined || Date.parse(time) < Date.parse(bound);
  return (
    after(created_date, created_after) &&
    before(created_date, created_before) &&
    after(updated_date, updated_after) &&
    before(updated_date, updated_before)
  );
};

function sort(all: Creative[], { sort: wanted }: Wanted, places: ReadonlyMap<string, readonly Place[]>): Creative[] {
  const field = wanted?.field ?? "created_date";
  const keyOf = (one: Creative): string | number =>
    field === "assignment_count" ? (places.get(one.creative_id)?.length ?? 0) : one[field as "name"];
  const sign = (wanted?.direction ?? "asc") === "desc" ? -1 : 1;
  return all.sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x < y ? -sign : x > y ? sign : a.creative_id < b.creative_id ? -1 : 1;
  });
}

const shown = (
  { creative_id, name, format_id, status, created_date, updated_date, assets, tags, more }: Creative,
  places: readonly Place[] | undefined,
): JsonObject => ({
  ...more,
  creative_id,
  name,
  ...(format_id !== undefined && { format_id }),
  status,
  created_date,
  updated_date,
  assets,
  ...(tags !== undefined && { tags }),
  ...(places !== undefined && {
    assignments: {
      assignment_count: places.length,
      assigned_packages: places.map(({ package_id, assigned_date }) => ({ package_id, assigned_date })),
    },
  }),
});
