import type { Behaviour } from "../frame/behaviour.js";
import { listTools } from "../lists/tools.js";
import { collectionIdentity, collectionLists, resolveCollections } from "./resolve.js";

/** Lists of programmes that advertising may run with. */
export const collectionListsBehaviour: Behaviour = {
  area: "collection-lists",
  needs: ["accounts"],
  tools: listTools(collectionLists, {
    field: "collections",
    async resolve(call, list) {
      const { collections: members, gaps } = await resolveCollections(call, list);
      return { members, gaps };
    },
    idOf: collectionIdentity,
    shown: ({ collection_id: _id, publisher_domain: _domain, ...facts }) => facts,
  }),
};
