/** What a media buy is told of by, as calls register it. */
import type { Frequency } from "./calendar.js";
import type { PushNotificationConfig } from "./types.js";

/** `reporting_webhook` (docs/protocol/webhooks.md#registration); signed unless it carries `authentication`. */
export interface ReportingWebhook extends PushNotificationConfig {
  readonly reporting_frequency: Frequency;
  readonly requested_metrics?: readonly string[];
}

/** `push_notification_config` of a media buy. */
export interface EventsWebhook extends PushNotificationConfig {
  /** Longer coalescence windows the buyer agreed to, by event type, in milliseconds. */
  readonly coalescenceOptIn?: Readonly<Record<string, number>>;
}

/** What a task's caller has registered that outlives the task: for the media buy it makes. */
export interface HeldChannels {
  readonly push?: PushNotificationConfig;
  readonly reporting?: ReportingWebhook;
}
