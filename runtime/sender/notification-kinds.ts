/** What a config of notifications asks for: when its events are made, and when they are sent. */
import { eventCatalogue } from "../facts/index.js";
import type { SenderReleases } from "./releases.js";
import type { NotificationConfig } from "./types.js";

export interface AskingConfig
  extends Pick<NotificationConfig, "event_types" | "all_authorized_accounts" | "include_future_event_types"> {
  /** Kinds there were when it asked for those to come. */
  readonly known?: readonly string[];
}

/** Whether a config asks for a kind. @param account the one that an agent is told of */
export const asksFor = (
  releases: SenderReleases,
  config: AskingConfig,
  { kind, account }: { readonly kind: string; readonly account: string | undefined },
): boolean =>
  (account === undefined || config.all_authorized_accounts === true) &&
  (config.event_types.includes(kind) || isForeseen(releases, config, kind));

/** A kind that came after those a config could name, that it asked for all the same, and that says nothing but to read again. */
function isForeseen(
  releases: SenderReleases,
  { include_future_event_types: asked, known = [] }: AskingConfig,
  kind: string,
): boolean {
  if (asked !== true || known.includes(kind)) return false;
  const entry = eventCatalogue(releases.of().release).get(kind);
  // An instance of an older release sends what one of a newer release has made.
  return entry === undefined || entry.invalidation === true;
}
