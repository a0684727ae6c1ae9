/** `adbind/sender`: every status change and scheduled event reaches its receiver, signed, at least once. */
export type { ActivityRecord } from "./activity.js";
export type { Frequency } from "./calendar.js";
export type { BuyChannels, Channels, EventsWebhook, Impairment, NoticeKind, ReportingWebhook } from "./channels.js";
export { createSender } from "./create.js";
export type { Outbox, OutboxEntry } from "./outbox.js";
export type { Sender } from "./sender.js";
export type { Tasks } from "./tasks.js";
export type * from "./types.js";
