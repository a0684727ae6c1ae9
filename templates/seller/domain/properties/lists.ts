import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import * as lists from "../lists/lists.js";
import { identity } from "./catalog.js";
import { propertyLists, resolveProperties } from "./resolve.js";

/** Identifiers of one page, and at most: these lists are long. */
const PAGE = { items: 1_000, most: 10_000 };

export const createPropertyList = (call: Call, request: Request<"create_property_list">): JsonObject =>
  lists.createList(call, propertyLists, { ...request });

export const updatePropertyList = (call: Call, request: Request<"update_property_list">): JsonObject =>
  lists.updateList(call, propertyLists, { ...request });

export const deletePropertyList = (call: Call, request: Request<"delete_property_list">): JsonObject =>
  lists.deleteList(call, propertyLists, request);

export const listPropertyLists = (call: Call, request: Request<"list_property_lists">): JsonObject =>
  lists.listLists(call, propertyLists, request);

/** `get_property_list`: the list, and unless told otherwise what it comes to now. */
export function getPropertyList(call: Call, request: Request<"get_property_list">): JsonObject {
  const list = lists.listOf(call, propertyLists, request);
  const shown = lists.shown(call, propertyLists, list);
  if (request.resolve === false) return { list: shown };
  const { identifiers, gaps } = resolveProperties(call, list);
  const { items, pagination } = page(identifiers, request.pagination, identity, PAGE);
  return {
    list: shown,
    identifiers: items,
    pagination,
    ...lists.resolution(call),
    ...(Object.keys(gaps).length > 0 && { coverage_gaps: gaps }),
  };
}
