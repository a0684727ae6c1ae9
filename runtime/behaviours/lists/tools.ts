/** The tools of a sort of list: made, changed, found, fetched with what it comes to, and deleted. */
import type { JsonObject } from "../../contract/index.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import {
  createList,
  deleteList,
  type Family,
  findList,
  type KeptList,
  type ListNamed,
  type ListRequest,
  type ListsWanted,
  listLists,
  MEMBERS,
  resolution,
  shown,
  updateList,
} from "./lists.js";

interface Fetched extends ListNamed {
  readonly resolve?: boolean;
  readonly pagination?: PageWanted;
}

/** What a list comes to. */
interface Resolution<T> {
  readonly members: readonly T[];
  /** What nothing is known of, by what is wanted; empty where everything is known. */
  readonly gaps: object;
}

interface Resolver<T> {
  /** Field of the members in the answer: `identifiers`. */
  readonly field: string;
  resolve(call: BehaviourCall, list: KeptList): Promise<Resolution<T>>;
  idOf(member: T): string;
  /** A member as the wire has it. */
  shown(member: T): unknown;
}

/** @returns by name: `create_property_list` and so on */
export function listTools<T>(family: Family, resolver: Resolver<T>): Readonly<Record<string, ToolBehaviour>> {
  const { noun } = family;
  const answering =
    <R>(work: (call: BehaviourCall, family: Family, request: R) => Promise<JsonObject>): ToolBehaviour =>
    async (request: R, call) =>
      call.answer(await work(call, family, request));
  return {
    [`create_${noun}_list`]: answering<ListRequest>(createList),
    [`update_${noun}_list`]: answering<ListRequest & ListNamed>(updateList),
    [`delete_${noun}_list`]: answering<ListNamed>(deleteList),
    [`list_${noun}_lists`]: answering<ListsWanted>(listLists),
    [`get_${noun}_list`]: answering((call, _family, request: Fetched) =>
      fetchedList(call, family, { request, resolver }),
    ),
  };
}

/** The list, and unless told otherwise what it comes to now. */
async function fetchedList<T>(
  call: BehaviourCall,
  family: Family,
  { request, resolver }: { readonly request: Fetched; readonly resolver: Resolver<T> },
): Promise<JsonObject> {
  const found = await findList(call, family, request);
  const facts = await shown(call, family, found);
  if (request.resolve === false) return { list: facts };
  const { members, gaps } = await resolver.resolve(call, found);
  const { items, pagination } = listPage(members, request.pagination, resolver.idOf, MEMBERS);
  return {
    list: facts,
    [resolver.field]: items.map(resolver.shown),
    pagination,
    ...resolution(call),
    ...(Object.keys(gaps).length > 0 && { coverage_gaps: gaps }),
  };
}
