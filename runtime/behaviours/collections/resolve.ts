/** Which collections a list comes to: its sources, less what its filters leave out. */
import type { BehaviourCall } from "../frame/call.js";
import type { Family, KeptList } from "../lists/lists.js";
import type { DistributionId, KnownCollection } from "../ports/collections.js";

interface Source {
  readonly selection_type: string;
  readonly identifiers?: readonly DistributionId[];
  readonly publisher_domain?: string;
  readonly collection_ids?: readonly string[];
  readonly genres?: readonly string[];
}

type Rating = { readonly system: string; readonly rating: string };

interface Filters {
  readonly kinds?: readonly string[];
  readonly genres_include?: readonly string[];
  readonly genres_exclude?: readonly string[];
  readonly content_ratings_include?: readonly Rating[];
  readonly content_ratings_exclude?: readonly Rating[];
  readonly production_quality?: readonly string[];
  readonly exclude_distribution_ids?: readonly DistributionId[];
}

export interface ResolvedCollections {
  readonly collections: readonly KnownCollection[];
  /** Collections that are in although nothing is known of what a filter asks for, by dimension. */
  readonly gaps: { readonly [dimension: string]: readonly DistributionId[] };
}

const identity = ({ type, value }: DistributionId): string => `${type} ${value}`;

/** Publishers name their collections each by itself. */
export const collectionIdentity = ({ publisher_domain, collection_id }: KnownCollection): string =>
  JSON.stringify([publisher_domain, collection_id]);

/** Collections by what they are distributed under; of several under one name the first is meant. */
function byDistribution(known: readonly KnownCollection[]): ReadonlyMap<string, KnownCollection> {
  const found = new Map<string, KnownCollection>();
  for (const one of known)
    for (const id of one.distribution_ids) if (!found.has(identity(id))) found.set(identity(id), one);
  return found;
}

/** What is only known by an identifier has no other name. */
const unknown = (id: DistributionId): KnownCollection => ({
  collection_id: identity(id),
  publisher_domain: "",
  name: id.value,
  distribution_ids: [id],
});

function drawn(known: readonly KnownCollection[], base: readonly Source[] | undefined): KnownCollection[] {
  if (base === undefined) return [...known];
  const distributed = byDistribution(known);
  return base.flatMap((source) => {
    if (source.selection_type === "distribution_ids") {
      return (source.identifiers ?? []).map((id) => distributed.get(identity(id)) ?? unknown(id));
    }
    const published = known.filter(({ publisher_domain }) => publisher_domain === source.publisher_domain);
    return published.filter(({ collection_id, genre = [] }) =>
      source.selection_type === "publisher_collections"
        ? source.collection_ids?.includes(collection_id)
        : source.genres?.some((wanted) => genre.includes(wanted)),
    );
  });
}

const rated = (ratings: readonly Rating[], own: Rating): boolean =>
  ratings.some(({ system, rating }) => system === own.system && rating === own.rating);

/** Verdicts by dimension; undefined where the collection's own value is not known. */
function verdicts(filters: Filters, own: KnownCollection): { readonly [dimension: string]: boolean | undefined } {
  const { genres_include: genres, genres_exclude: noGenres, content_ratings_include: ratings } = filters;
  const noRatings = filters.content_ratings_exclude;
  const judge = <V>(asked: boolean, value: V | undefined, passes: (value: V) => boolean): boolean | undefined =>
    !asked ? true : value === undefined ? undefined : passes(value);
  return {
    kind: judge(filters.kinds !== undefined, own.kind, (kind) => filters.kinds?.includes(kind) === true),
    genre: judge(
      genres !== undefined || noGenres !== undefined,
      own.genre,
      (genre) =>
        (genres === undefined || genres.some((one) => genre.includes(one))) &&
        !noGenres?.some((one) => genre.includes(one)),
    ),
    content_rating: judge(
      ratings !== undefined || noRatings !== undefined,
      own.content_rating,
      (rating) => (ratings === undefined || rated(ratings, rating)) && !rated(noRatings ?? [], rating),
    ),
    production_quality: judge(
      filters.production_quality !== undefined,
      own.production_quality,
      (quality) => filters.production_quality?.includes(quality) === true,
    ),
  };
}

export async function resolveCollections(call: BehaviourCall, list: KeptList): Promise<ResolvedCollections> {
  const { principal, ports } = call;
  const known = await call.once("collections", () => ports.collections.collections({ principal }));
  const filters = (list.filters ?? {}) as Filters;
  const excluded = new Set((filters.exclude_distribution_ids ?? []).map(identity));
  const candidates = new Map(
    drawn(known, list.base as readonly Source[] | undefined).map((one) => [collectionIdentity(one), one]),
  );
  const gaps: { [dimension: string]: DistributionId[] } = {};
  const kept = [...candidates.values()].filter((own) => {
    if (own.distribution_ids.some((id) => excluded.has(identity(id)))) return false;
    const judged = Object.entries(verdicts(filters, own));
    if (judged.some(([, passes]) => passes === false)) return false;
    for (const [dimension, passes] of judged) {
      if (passes !== undefined) continue;
      gaps[dimension] ??= [];
      gaps[dimension].push(...own.distribution_ids);
    }
    return true;
  });
  return { collections: kept, gaps };
}

export const collectionLists: Family = {
  noun: "collection",
  baseField: "base_collections",
  countField: "collection_count",
  members: async (call, list) => (await resolveCollections(call, list)).collections.map(collectionIdentity),
};
