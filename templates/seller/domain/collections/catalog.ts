/** What is known of collections: shows, series, podcasts. */
import type { Call } from "../../handler.js";

export interface DistributionId {
  readonly type: string;
  readonly value: string;
}

export interface Collection {
  readonly collection_id: string;
  readonly publisher_domain: string;
  readonly name: string;
  readonly kind?: string;
  readonly distribution_ids: readonly DistributionId[];
  readonly genre?: readonly string[];
  readonly genre_taxonomy?: string;
  readonly content_rating?: { readonly system: string; readonly rating: string };
  readonly production_quality?: string;
}

export const collections = (call: Call): Collection[] => call.documents.list<Collection>("collection", "");

export const identity = ({ type, value }: DistributionId): string => `${type} ${value}`;

export function collectionOf(known: readonly Collection[], id: DistributionId): Collection | undefined {
  const wanted = identity(id);
  return known.find(({ distribution_ids }) => distribution_ids.some((own) => identity(own) === wanted));
}
