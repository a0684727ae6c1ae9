import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import * as lists from "../lists/lists.js";
import type { Collection } from "./catalog.js";
import { collectionLists, resolveCollections } from "./resolve.js";

/** Collections of one page, and at most: these lists are long. */
const PAGE = { items: 1_000, most: 10_000 };

export const createCollectionList = (call: Call, request: Request<"create_collection_list">): JsonObject =>
  lists.createList(call, collectionLists, { ...request });

export const updateCollectionList = (call: Call, request: Request<"update_collection_list">): JsonObject =>
  lists.updateList(call, collectionLists, { ...request });

export const deleteCollectionList = (call: Call, request: Request<"delete_collection_list">): JsonObject =>
  lists.deleteList(call, collectionLists, request);

export const listCollectionLists = (call: Call, request: Request<"list_collection_lists">): JsonObject =>
  lists.listLists(call, collectionLists, request);

/** A collection as the wire has it. */
function shown({ name, kind, genre, genre_taxonomy, content_rating, distribution_ids }: Collection): JsonObject {
  return {
    name,
    distribution_ids,
    ...(kind !== undefined && { kind }),
    ...(genre !== undefined && { genre }),
    ...(genre_taxonomy !== undefined && { genre_taxonomy }),
    ...(content_rating !== undefined && { content_rating }),
  };
}

/** `get_collection_list`: the list, and unless told otherwise what it comes to now. */
export function getCollectionList(call: Call, request: Request<"get_collection_list">): JsonObject {
  const list = lists.listOf(call, collectionLists, request);
  const facts = lists.shown(call, collectionLists, list);
  if (request.resolve === false) return { list: facts };
  const { collections, gaps } = resolveCollections(call, list);
  const { items, pagination } = page(collections, request.pagination, ({ collection_id }) => collection_id, PAGE);
  return {
    list: facts,
    collections: items.map(shown),
    pagination,
    ...lists.resolution(call),
    ...(Object.keys(gaps).length > 0 && { coverage_gaps: gaps }),
  };
}
