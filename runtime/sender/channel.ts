/** What a channel is: its config, its states, and what everything that is sent on one needs. */

import type { Logger } from "pino";
import { AdbindError } from "../errors.js";
import { operationRequired } from "../facts/index.js";
import type { Queue } from "../queue/types.js";
import type { ChannelRow, SenderTables } from "../store/sender-tables.js";
import type { Frequency } from "./calendar.js";
import { boundUnder } from "./outbox.js";
import type { RegistrationRules } from "./registration.js";
import type { SenderReleases } from "./spoken.js";
import type { PushNotificationConfig, ReportSource } from "./types.js";

/** `reporting_webhook` (webhooks-facts.md 5); signed unless it carries `authentication`. */
export interface ReportingWebhook extends PushNotificationConfig {
  readonly reporting_frequency: Frequency;
  readonly requested_metrics?: readonly string[];
}

/** `push_notification_config` of a media buy. */
export interface EventsWebhook extends PushNotificationConfig {
  /** Longer coalescence windows the buyer agreed to, by event type, in milliseconds. */
  readonly coalescenceOptIn?: Readonly<Record<string, number>>;
}

export interface ChannelParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly rules: RegistrationRules;
  readonly spoken: SenderReleases;
  readonly log: Logger | undefined;
  readonly reports: ReportSource | undefined;
  readonly coalescence?: Readonly<Record<string, number>>;
  readonly now: () => number;
  readonly uuid: () => string;
}

/** `closed` of a channel: open, waiting for its final report, over. */
export const OPEN = 0;
export const CLOSING = 1;
export const CLOSED = 2;

export const closedError = (resource: string): AdbindError =>
  new AdbindError("channel_closed", "the channel has ended: nothing fires after the final event", {
    where: resource,
    remedy: "the buyer reads the state with its next query",
  });

/** Where what is sent on a channel goes, and for whom. */
export const target = (
  { spoken }: Pick<ChannelParts, "spoken">,
  { resource, kind, subscriber, principal, config, release }: ChannelRow,
) => ({
  target: { channel: { resource, kind, subscriber } },
  url: (JSON.parse(config) as PushNotificationConfig).url,
  principal,
  subject: resource,
  ...boundUnder(spoken.of(release).release),
});

/** Can its events name the buyer's operation, where they must? None is ever invented. */
export const isNamed = ({ spoken }: Pick<ChannelParts, "spoken">, { config, release }: ChannelRow): boolean =>
  (JSON.parse(config) as PushNotificationConfig | null)?.operation_id !== undefined ||
  !operationRequired(spoken.of(release).release);
