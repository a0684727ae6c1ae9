import type { JsonObject } from "../contract/index.js";
import type { A2aPushConfig, PushNotificationConfig } from "./types.js";

/** What is kept of a task: its channels, and what its events echo. */
export interface TaskDetails {
  readonly push?: PushNotificationConfig;
  readonly a2a?: A2aPushConfig;
  readonly context?: JsonObject;
  readonly contextId?: string;
  /** Version of the release it was registered under. */
  readonly release?: string;
}
