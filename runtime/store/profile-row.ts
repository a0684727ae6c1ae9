/** A profile of an agent, as its row. */
export interface ProfileRow {
  readonly agent: number;
  readonly url: string;
  /** A member registered the agent. */
  readonly registered: number;
  readonly score: number;
  readonly property_count: number;
  readonly publisher_count: number;
  readonly has_tmp: number;
  readonly taxonomy: string | null;
  /** JSON: one list per search dimension, in their order. */
  readonly lists: string;
  readonly updated_at: number;
  /** Clock at which it came, or came back. */
  readonly born: number;
  /** Clock of its last change. */
  readonly version: number;
  /** Removed; the row stays, so that instances hear of it. */
  readonly gone: number;
  /** JSON: properties by type, of the types in `lists`; null where they were not counted by the publisher's last change. */
  readonly type_counts: string | null;
}
