/** What a store knows events by. */

/**
 * What a webhook is about; the registration fixes it (docs/protocol/webhooks.md#registration). The last two have many kinds
 * each.
 */
export type EventKind = "task" | "report" | "impairment" | "list_change" | "artifact" | "rights" | "account" | "agent";

/** `pending`: waits for its handler. `parked`: waits for its registration. `dead`: given up, kept for a human. */
export type InboxState = "pending" | "parked" | "dead";

/** Something about an event that its handler should know. */
export interface EventNote {
  /**
   * `schema_mismatch`: it is not what the release says. `wrapper_detected`: an A2A agent wrapped its data. `kind_unknown`: the
   * release has no such event. `kind_unregistered`: what was registered is told of others.
   */
  readonly code: "schema_mismatch" | "wrapper_detected" | "kind_unknown" | "kind_unregistered";
  /** JSON pointer into the result. */
  readonly pointer: string;
  readonly message: string;
}
