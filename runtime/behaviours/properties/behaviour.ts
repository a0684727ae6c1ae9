import type { Behaviour } from "../frame/behaviour.js";
import { listTools } from "../lists/tools.js";
import { validatePropertyDelivery } from "./delivery.js";
import { identity, propertyLists, resolveProperties } from "./resolve.js";

/** Lists of where advertising may run, and whether it did. */
export const propertyListsBehaviour: Behaviour = {
  area: "property-lists",
  needs: ["accounts"],
  tools: {
    ...listTools(propertyLists, {
      field: "identifiers",
      async resolve(call, list) {
        const { identifiers: members, gaps } = await resolveProperties(call, list);
        return { members, gaps };
      },
      idOf: identity,
      shown: (member) => member,
    }),
    validate_property_delivery: validatePropertyDelivery,
  },
  capabilities: ({ ports }) => ({ governance: { property_features: ports.properties.features } }),
};
