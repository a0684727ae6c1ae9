/** What a channel is: its config, its states, and what everything that is sent on one needs. */

import type { JsonObject } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { operationRequired } from "../facts/index.js";
import type { Logger } from "../log.js";
import type { Queue } from "../queue/types.js";
import type { ChannelKey, ChannelRow, SenderTables } from "../store/sender-tables.js";
import { encodeBody, TOKEN_BYTES } from "./envelope.js";
import { boundUnder, orderingKeyOf } from "./outbox.js";
import type { StoredConfig } from "./registered-config.js";
import type { RegistrationRules } from "./registration.js";
import type { SenderReleases } from "./releases.js";
import type { Bodies } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import type { PushNotificationConfig, ReportSource } from "./types.js";

export interface ChannelDependencies {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly rules: RegistrationRules;
  readonly releases: SenderReleases;
  readonly log: Logger | undefined;
  readonly reports: ReportSource | undefined;
  /** Milliseconds it has to answer. */
  readonly callbackMs: number;
  readonly coalescence?: Readonly<Record<string, number>>;
  readonly now: () => number;
  readonly uuid: () => string;
  readonly keyring: Keyring;
  readonly bodies: Bodies;
}

export const closedError = (resource: string): AdbindError =>
  new AdbindError("channel_closed", "the channel has ended: nothing fires after the final event", {
    where: resource,
    remedy: "the buyer reads the state with its next query",
  });

/** One whose config cannot be read is told of to an operator, and the others are told. */
export function isReadable(row: ChannelRow, log: Logger | undefined): boolean {
  try {
    JSON.parse(row.config);
    return true;
  } catch {
    const { resource, kind, subscriber, principal } = row;
    log?.warn({ resource, kind, subscriber, principal }, "a registration is told nothing: its config cannot be read");
    return false;
  }
}

/** Where what is sent on a channel goes, and for whom. */
export function target(
  { releases }: Pick<ChannelDependencies, "releases">,
  { resource, kind, subscriber, principal, config, release }: ChannelRow,
) {
  const { url, endpoint } = JSON.parse(config) as StoredConfig;
  const place = { target: { channel: { resource, kind, subscriber } }, url, endpoint };
  return { ...place, principal, subject: resource, ...boundUnder(releases.of(release).release) };
}

/** An event that its receiver finds the registration's token in. */
export function tokenedBody(config: StoredConfig<PushNotificationConfig>, body: JsonObject, what: string) {
  const tokened = config.tokened === true;
  return { body: encodeBody(body, what, tokened ? TOKEN_BYTES : 0), ...(tokened && { tokened: true as const }) };
}

/** Ordering key of what is sent on a channel: where one cannot be reached another one of the same resource goes on. */
export const channelOrderingKey = ({ resource, kind, subscriber }: ChannelKey): string =>
  orderingKeyOf(kind, subscriber === "" ? resource : JSON.stringify([resource, subscriber]));

/** The buyer's operation that a channel was registered with. */
export const registeredOperation = ({ config }: ChannelRow): string | undefined =>
  (JSON.parse(config) as StoredConfig<PushNotificationConfig> | null)?.operation_id;

/** Can its events name the buyer's operation, where they must? None is ever invented. */
export const isNamed = ({ releases }: Pick<ChannelDependencies, "releases">, row: ChannelRow): boolean =>
  registeredOperation(row) !== undefined || !operationRequired(releases.of(row.release).release);
