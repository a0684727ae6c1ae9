/** Sessions that an agent has let go, as it says when it is asked in one. */
import type { JsonObject } from "../../contract/index.js";

/**
 * Whether a request was refused for its session, so that nothing was done: MCP says 404, and many servers say 400, of no request by
 * its id. An answer that has the protocol's own error says nothing of sessions, and is not to be asked about here.
 * @param said the answer, where it is a JSON object
 */
export const deniesSession = (status: number | undefined, said: JsonObject | undefined): boolean =>
  status === 404 || (status === 400 && (said?.id ?? null) === null);
