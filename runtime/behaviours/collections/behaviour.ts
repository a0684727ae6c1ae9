import type { JsonObject } from "../../contract/index.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import {
  createList,
  deleteList,
  findList,
  type ListNamed,
  type ListRequest,
  type ListsWanted,
  listLists,
  MEMBERS,
  resolution,
  shown,
  updateList,
} from "../lists/lists.js";
import type { KnownCollection } from "../ports/collections.js";
import { collectionLists, resolveCollections } from "./resolve.js";

interface Fetched extends ListNamed {
  readonly resolve?: boolean;
  readonly pagination?: PageWanted;
}

const create: ToolBehaviour = async (request: ListRequest, call) =>
  call.answer(await createList(call, collectionLists, request));

const update: ToolBehaviour = async (request: ListRequest & ListNamed, call) =>
  call.answer(await updateList(call, collectionLists, request));

const remove: ToolBehaviour = async (request: ListNamed, call) =>
  call.answer(await deleteList(call, collectionLists, request));

const list: ToolBehaviour = async (request: ListsWanted, call) =>
  call.answer(await listLists(call, collectionLists, request));

/** A collection as the wire has it. */
const member = ({ collection_id: _id, publisher_domain: _domain, ...facts }: KnownCollection): JsonObject => facts;

/** `get_collection_list`: the list, and unless told otherwise what it comes to now. */
const get: ToolBehaviour = async (request: Fetched, call) => {
  const found = await findList(call, collectionLists, request);
  const facts = await shown(call, collectionLists, found);
  if (request.resolve === false) return call.answer({ list: facts });
  const { collections, gaps } = await resolveCollections(call, found);
  const { items, pagination } = listPage(
    collections,
    request.pagination,
    ({ collection_id }) => collection_id,
    MEMBERS,
  );
  return call.answer({
    list: facts,
    collections: items.map(member),
    pagination,
    ...resolution(call),
    ...(Object.keys(gaps).length > 0 && { coverage_gaps: gaps }),
  });
};

/** Lists of programmes that advertising may run with. */
export const collectionListsBehaviour: Behaviour = {
  area: "collection-lists",
  needs: ["accounts"],
  tools: {
    create_collection_list: create,
    update_collection_list: update,
    delete_collection_list: remove,
    list_collection_lists: list,
    get_collection_list: get,
  },
};
