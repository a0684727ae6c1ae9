/** Which creatives of a library a list is of. */
import type { AccountRef } from "../accounts/accounts.js";
import type { MediaBuy } from "../buys/buys.js";
import { sameFormat } from "../formats/formats.js";
import { type Creative, mayUse } from "../library/creatives.js";
import type { FormatId } from "../ports/creatives.js";

type Times = "created_after" | "created_before" | "updated_after" | "updated_before";

export interface CreativeFilters extends Partial<Record<Times, string>> {
  readonly accounts?: readonly AccountRef[];
  /** Those accounts' ids. */
  readonly accountIds?: readonly string[] | undefined;
  readonly statuses?: readonly string[];
  readonly tags?: readonly string[];
  readonly tags_any?: readonly string[];
  readonly name_contains?: string;
  readonly creative_ids?: readonly string[];
  readonly concept_ids?: readonly string[];
  readonly format_ids?: readonly FormatId[];
  readonly format_kinds?: readonly string[];
  readonly asset_types?: readonly string[];
  readonly has_variables?: boolean;
  readonly media_buy_ids?: readonly string[];
  readonly assigned_to_packages?: readonly string[];
  readonly unassigned?: boolean;
}

/** A package that a creative is in. */
export interface CreativePlace {
  readonly media_buy_id: string;
  readonly package_id: string;
  readonly assigned_date: string;
}

/** Where creatives are; a package that names another account's has nothing of it. */
export function assignedPlaces(all: readonly Creative[], buys: readonly MediaBuy[]): Map<string, CreativePlace[]> {
  const places = new Map<string, CreativePlace[]>();
  const known = new Map(all.map((one) => [one.creative_id, one]));
  for (const { account_id, media_buy_id, packages, updated_at } of buys)
    for (const { package_id, creative_assignments } of packages)
      for (const { creative_id } of creative_assignments)
        if (mayUse(account_id, known.get(creative_id) ?? { account_id })) {
          const own = places.get(creative_id) ?? [];
          own.push({ media_buy_id, package_id, assigned_date: updated_at });
          places.set(creative_id, own);
        }
  return places;
}

const among = (wanted: readonly string[] | undefined, value: unknown): boolean =>
  wanted === undefined || wanted.includes(value as string);

/** Types of assets that stand in a slot by themselves: lists, and what is inside an asset, are not looked into. */
const directTypes = ({ assets }: Creative): (string | undefined)[] =>
  Object.values(assets).flatMap((one) => (Array.isArray(one) ? [] : [(one as { asset_type?: string }).asset_type]));

const isTagged = ({ tags: own = [] }: Creative, { tags, tags_any: any }: CreativeFilters): boolean =>
  (tags === undefined || tags.every((tag) => own.includes(tag))) &&
  (any === undefined || any.some((tag) => own.includes(tag)));

const isOfFormat = (one: Creative, { format_ids: ids, format_kinds: kinds, asset_types: types }: CreativeFilters) =>
  (ids === undefined || ids.some((named) => one.format_id !== undefined && sameFormat(named, one.format_id))) &&
  among(kinds, one.more?.format_kind) &&
  (types === undefined || directTypes(one).some((type) => type !== undefined && types.includes(type)));

const isPlaced = (places: readonly CreativePlace[], filters: CreativeFilters): boolean => {
  const { media_buy_ids: buys, assigned_to_packages: packages, unassigned } = filters;
  return (
    (buys === undefined || places.some(({ media_buy_id }) => buys.includes(media_buy_id))) &&
    (packages === undefined || places.some(({ package_id }) => packages.includes(package_id))) &&
    (unassigned === undefined || unassigned === (places.length === 0))
  );
};

function isInTime({ created_date, updated_date }: Creative, filters: CreativeFilters): boolean {
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
}

/** Whether a creative fits all filters. */
export function fitsFilters(one: Creative, filters: CreativeFilters, places: readonly CreativePlace[]): boolean {
  const { statuses, name_contains: part, creative_ids: ids, accountIds, has_variables: variable } = filters;
  const variables = one.more?.variables;
  return (
    // What is archived is asked for by name.
    (statuses === undefined ? one.status !== "archived" || ids !== undefined : statuses.includes(one.status)) &&
    among(ids, one.creative_id) &&
    among(filters.concept_ids, one.more?.concept_id) &&
    among(accountIds, one.account_id) &&
    (part === undefined || one.name.toLowerCase().includes(part.toLowerCase())) &&
    (variable === undefined || variable === (Array.isArray(variables) && variables.length > 0)) &&
    isTagged(one, filters) &&
    isOfFormat(one, filters) &&
    isPlaced(places, filters) &&
    isInTime(one, filters)
  );
}
