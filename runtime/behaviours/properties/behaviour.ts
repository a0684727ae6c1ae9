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
import { validatePropertyDelivery } from "./delivery.js";
import { identity, propertyLists, resolveProperties } from "./resolve.js";

interface Fetched extends ListNamed {
  readonly resolve?: boolean;
  readonly pagination?: PageWanted;
}

const create: ToolBehaviour = async (request: ListRequest, call) =>
  call.answer(await createList(call, propertyLists, request));

const update: ToolBehaviour = async (request: ListRequest & ListNamed, call) =>
  call.answer(await updateList(call, propertyLists, request));

const remove: ToolBehaviour = async (request: ListNamed, call) =>
  call.answer(await deleteList(call, propertyLists, request));

const list: ToolBehaviour = async (request: ListsWanted, call) =>
  call.answer(await listLists(call, propertyLists, request));

/** `get_property_list`: the list, and unless told otherwise what it comes to now. */
const get: ToolBehaviour = async (request: Fetched, call) => {
  const found = await findList(call, propertyLists, request);
  const facts = await shown(call, propertyLists, found);
  if (request.resolve === false) return call.answer({ list: facts });
  const { identifiers, gaps } = await resolveProperties(call, found);
  const { items, pagination } = listPage(identifiers, request.pagination, identity, MEMBERS);
  return call.answer({
    list: facts,
    identifiers: items,
    pagination,
    ...resolution(call),
    ...(Object.keys(gaps).length > 0 && { coverage_gaps: gaps }),
  });
};

/** Lists of where advertising may run, and whether it did. */
export const propertyListsBehaviour: Behaviour = {
  area: "property-lists",
  needs: ["accounts"],
  tools: {
    create_property_list: create,
    update_property_list: update,
    delete_property_list: remove,
    list_property_lists: list,
    get_property_list: get,
    validate_property_delivery: validatePropertyDelivery,
  },
  capabilities: ({ ports }) => ({ governance: { property_features: ports.properties.features } }),
};
