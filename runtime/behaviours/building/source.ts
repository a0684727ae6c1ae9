/** What is built from: a creative of the library. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { DocumentOwner } from "../frame/collection.js";
import { type Creative, findCreative, ownerMayUse } from "../library/creatives.js";

/**
 * A creative of the library that may be served.
 * @throws ToolError CREATIVE_NOT_FOUND, INVALID_STATE
 */
export async function fromLibrary(call: BehaviourCall, id: string, owner: DocumentOwner): Promise<Creative> {
  const found = await findCreative(call, id);
  if (found === undefined || !ownerMayUse(owner, found)) {
    throw new ToolError("CREATIVE_NOT_FOUND", "there is no such creative in the library", { field: "creative_id" });
  }
  if (found.status !== "rejected" && found.status !== "archived") return found;
  throw new ToolError("INVALID_STATE", `the creative is ${found.status}: it is not served`, { field: "creative_id" });
}
