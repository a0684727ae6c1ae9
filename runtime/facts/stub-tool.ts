/** A tool of the protocol that a release at hand does not list. */
import { type AnyTool, terminalStatuses } from "../contract/index.js";

/**
 * A reading tool in place of one that a release lacks: an alias of it, or one that every release's callers may ask for.
 * It has no schemas, so nothing of it is validated.
 * @param name as it is called on the wire
 */
export const stubTool = (name: string): AnyTool => ({
  name,
  protocol: "protocol",
  mutating: false,
  idempotency: "none",
  request: "",
  arms: Object.fromEntries(terminalStatuses.map((status) => [status, null])) as AnyTool["arms"],
  statuses: [],
});
