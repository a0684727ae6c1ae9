/** What a seller says that it can do, where it says that in an object. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "./call.js";

/** @param names of members, one in the other; undefined where one of them is no object */
export function declaredObject(
  { declared }: Pick<BehaviourCall, "declared">,
  ...names: readonly string[]
): JsonObject | undefined {
  let found: unknown = declared;
  for (const name of names) found = isJsonObject(found) ? found[name] : undefined;
  return isJsonObject(found) ? found : undefined;
}
