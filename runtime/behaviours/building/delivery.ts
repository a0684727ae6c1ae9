import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, ownerOfRef } from "../accounts/accounts.js";
import { checkDay } from "../delivery/days.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DocumentOwner } from "../frame/collection.js";
import { summed } from "../frame/currency.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { type Creative, findCreative, ownerMayUse } from "../library/creatives.js";
import { type ServingTag, tagsOf } from "../previews/tags.js";
import type { KeptUsage } from "../usage/settled.js";
import { usageOf } from "../usage/usage.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly creative_ids?: readonly string[];
  readonly media_buy_ids?: readonly string[];
  readonly start_date?: string;
  readonly end_date?: string;
  readonly max_variants?: number;
  readonly pagination?: PageWanted;
}

/** A creative on one media buy, or on none. */
interface Place {
  readonly creative_id: string;
  readonly media_buy_id: string | undefined;
  readonly tags: readonly ServingTag[];
  /** Its creative runs nowhere else. */
  readonly only?: boolean;
  /** Of a creative without tags. */
  readonly library?: Creative;
  /** Tags of the same creative elsewhere, which say what it is of. */
  readonly from?: readonly ServingTag[];
}

const keyOf = ({ creative_id, media_buy_id }: { creative_id: string; media_buy_id?: string | undefined }): string =>
  JSON.stringify([creative_id, media_buy_id ?? null]);

function placesOf(tags: readonly ServingTag[]): Place[] {
  const places = new Map<string, ServingTag[]>();
  for (const tag of tags) places.set(keyOf(tag), [...(places.get(keyOf(tag)) ?? []), tag]);
  const found = [...places.values()].map((own): Place => {
    const [{ creative_id, media_buy_id }] = own as [ServingTag, ...ServingTag[]];
    return { creative_id, media_buy_id, tags: own };
  });
  const counts = new Map<string, number>();
  for (const { creative_id: id } of found) counts.set(id, (counts.get(id) ?? 0) + 1);
  return found.map((one) => ({ ...one, only: counts.get(one.creative_id) === 1 }));
}

/** What was used of a place. Use that names no media buy is of the only place of its creative, where it has but one. */
const usedBy = (usage: readonly KeptUsage[], { creative_id, media_buy_id, only }: Place): KeptUsage[] =>
  usage.filter(
    (one) =>
      one.creative_id === creative_id &&
      (one.media_buy_id === media_buy_id || (only === true && one.media_buy_id === undefined)),
  );

/** The currency of an answer that has no usage. */
const USUAL_CURRENCY = "USD";

/** Amounts of another currency than the answer's have no place in it: what was spent is not said then. */
const totalsOf = (usage: readonly KeptUsage[], currency: string): JsonObject => ({
  impressions: usage.reduce((sum, { impressions }) => sum + impressions, 0),
  ...(usage.every((one) => one.currency === currency) && { spend: summed(usage.map(({ spend }) => spend)) }),
});

/** Where it is not said on which of several buys a creative was used, that has a line of its own. */
const unplaced = (usage: readonly KeptUsage[], places: readonly Place[]): Place[] => {
  const unnamed = new Set(usage.flatMap((one) => (one.media_buy_id === undefined ? [one.creative_id] : [])));
  const several = places.filter(({ creative_id, only }) => only !== true && unnamed.has(creative_id));
  const known = new Set(places.filter((one) => one.media_buy_id === undefined).map(({ creative_id }) => creative_id));
  const byCreative = new Map(several.map(({ creative_id, tags }) => [creative_id, tags]));
  return [...byCreative].flatMap(([creative_id, tags]): Place[] =>
    known.has(creative_id) ? [] : [{ creative_id, media_buy_id: undefined, tags: [], from: tags }],
  );
};

/** Creatives of the library that were named, and have no tag: nothing is known of where they run but what was used. */
async function untagged(
  call: BehaviourCall,
  named: readonly string[],
  { owner, places }: { readonly owner: DocumentOwner; readonly places: readonly Place[] },
): Promise<Place[]> {
  const tagged = new Set(places.map(({ creative_id }) => creative_id));
  const found = await Promise.all(named.filter((id) => !tagged.has(id)).map((id) => findCreative(call, id)));
  return found.flatMap((one): Place[] =>
    one === undefined || !ownerMayUse(owner, one)
      ? []
      : [{ creative_id: one.creative_id, media_buy_id: undefined, tags: [], library: one }],
  );
}

/** What a creative is of, in the words its buyer uses. */
const formatOf = ({ tags, from = tags, library }: Place): JsonObject => {
  const id = from[0]?.manifest.format_id ?? library?.format_id;
  const kind = library?.more?.format_kind;
  return {
    ...(id !== undefined && { format_id: id }),
    ...(id === undefined && kind !== undefined && { format_kind: kind }),
  };
};

function shown(
  place: Place,
  usage: readonly KeptUsage[],
  { most, currency }: { readonly most: number | undefined; readonly currency: string },
): JsonObject {
  const totals = totalsOf(usedBy(usage, place), currency);
  // Use is reported by creative, not by tag: the first tag stands for all where there is one only.
  const variants = place.tags.map(({ tag_id: variant_id, manifest }) => ({
    variant_id,
    manifest,
    ...(place.tags.length === 1 && totals),
  }));
  return {
    creative_id: place.creative_id,
    ...(place.media_buy_id !== undefined && { media_buy_id: place.media_buy_id }),
    ...formatOf(place),
    totals,
    variant_count: variants.length,
    variants: variants.slice(0, most),
  };
}

/** `get_creative_delivery`: what was served of creatives, by the media buys they have tags for. */
export const creativeDelivery: ToolBehaviour = async (request: Wanted, call) => {
  const owner = await ownerOfRef(call, request.account);
  const { creative_ids: creatives, media_buy_ids: buys, start_date: from, end_date: to } = request;
  checkDay(from, "start_date");
  checkDay(to, "end_date");
  const [start, end] = [from ?? "1970-01-01", to ?? "9999-12-31"];
  const usage = (await usageOf(call, owner)).filter(
    (one) => one.end.slice(0, 10) >= start && one.start.slice(0, 10) <= end,
  );
  const tagged = placesOf(await tagsOf(call, owner)).filter(
    ({ creative_id, media_buy_id }) =>
      (creatives === undefined || creatives.includes(creative_id)) &&
      (buys === undefined || (media_buy_id !== undefined && buys.includes(media_buy_id))),
  );
  // What runs on a media buy is known by its tags alone.
  const others =
    buys === undefined
      ? [...unplaced(usage, tagged), ...(await untagged(call, creatives ?? [], { owner, places: tagged }))]
      : [];
  const places = [...tagged, ...others];
  const { items, most, pagination } = listPage(places, request.pagination, keyOf);
  const [first] = items;
  const offset = first === undefined ? places.length : places.indexOf(first);
  const now = call.time;
  const used = usage.find((one) => items.some((place) => usedBy([one], place).length > 0));
  const currency = used?.currency ?? USUAL_CURRENCY;
  return call.answer({
    currency,
    reporting_period: {
      start: from === undefined ? (usage.map((one) => one.start).sort()[0] ?? now) : `${from}T00:00:00Z`,
      end: to === undefined ? now : `${to}T23:59:59Z`,
      timezone: "UTC",
    },
    creatives: items.map((place) => shown(place, usage, { most: request.max_variants, currency })),
    ...(request.pagination !== undefined && {
      pagination: { ...pagination, limit: most, offset, total: places.length },
    }),
  });
};
