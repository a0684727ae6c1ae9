/** `adbind/sender`: every status change and scheduled event reaches its receiver, signed, at least once. */
export type { ActivityRecord } from "./activity.js";
export type { BuyChannels } from "./buy-channels.js";
export type { EventsWebhook, HeldChannels, ReportingWebhook } from "./buy-configs.js";
export type { Frequency } from "./calendar.js";
export type { Channels } from "./channels.js";
export { createSender } from "./create.js";
export type { SenderHealth } from "./health.js";
export type { Impairment } from "./impairments.js";
export type { Moved } from "./move.js";
export type { NoticeKind } from "./notices.js";
export type { NotificationConfigState, NotificationSet } from "./notification-configs.js";
export type { PreparedConfigs, PrepareOptions } from "./notification-sets.js";
export type { NotificationConfigs, NotificationEvent } from "./notifications.js";
export type { EndpointEntry, Outbox, OutboxCounts, OutboxEntry, OutboxEvent, OutboxFilter } from "./operators.js";
export type { Resealed } from "./reseal-bodies.js";
export {
  newSecretKey,
  parseSecretKeys,
  type SecretKeySource,
  type SecretKeys,
  secretKeysIn,
} from "./secret-keys.js";
export type { Sender, SenderStopOptions } from "./sender.js";
export type { Tasks } from "./tasks.js";
export type * from "./types.js";
