import type { JsonObject } from "../contract/index.js";
import type { ReportingWebhook } from "./buy-configs.js";
import type { StoredConfig } from "./registered-config.js";
import type { A2aPushConfig, PushNotificationConfig } from "./types.js";

/** What is kept of a task: its channels without their secrets, and what its events echo. */
export interface TaskDetails {
  readonly push?: StoredConfig<PushNotificationConfig>;
  readonly a2a?: StoredConfig<A2aPushConfig>;
  /** Of the media buy that the task makes, for when it has made it. */
  readonly reporting?: StoredConfig<ReportingWebhook>;
  readonly context?: JsonObject;
  readonly contextId?: string;
  /** Version of the release it was registered under. */
  readonly release?: string;
}
