/** Configs of notifications in their rows: what is secret of them is sealed, and gone with them. */
import type { Coroutine, Query } from "../db/index.js";
import type { ChannelRow } from "../store/sender-tables.js";
import { type ChannelParts, channelOrderingKey } from "./channel.js";
import { CLOSED, OPEN } from "./channel-state.js";
import { challengeBody, type EndpointProof, fingerprintOf } from "./endpoint-proof.js";
import { channelRegistration, joinConfig, openConfig, type StoredConfig } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import { inTransaction } from "./transact.js";
import type { NotificationConfig, NotificationScope } from "./types.js";

/** A config as its caller may read it: no credentials. */
export interface NotificationConfigState extends Omit<NotificationConfig, "authentication"> {
  readonly active: boolean;
  /** Why it is not active though it was asked to be. */
  readonly reason?: string;
}

export interface NotificationParts extends ChannelParts {
  readonly proof: EndpointProof;
}

/** Agents' configs stand under one name: what tells of an account looks among all of them. */
export const AGENTS = "agents";

/** A config with what is known of its endpoint. */
interface JudgedConfig extends NotificationConfig {
  /** It has answered a challenge as it is. */
  readonly proven: boolean;
  readonly reason?: string;
  /** Another one when its place or its credentials change, which the rest does not tell where they are sealed. */
  readonly revision: string;
}

type StoredNotification = StoredConfig<JudgedConfig>;

/** A config that is to be proved, as it was given, and its row. */
export interface Unproven {
  readonly row: ChannelRow;
  readonly config: NotificationConfig;
}

type Place = Pick<ChannelRow, "resource" | "kind">;

const placeOf = ({ account }: Pick<NotificationScope, "account">): Place =>
  account === undefined ? { resource: AGENTS, kind: "agent" } : { resource: account, kind: "account" };

const subscriberOf = (principal: string, id: string): string => JSON.stringify([principal, id]);

/** Null for one that was removed. */
export const storedIn = ({ config }: Pick<ChannelRow, "config">): StoredNotification | null =>
  JSON.parse(config) as StoredNotification | null;

function* rowsOf({ tables }: NotificationParts, q: Query, scope: NotificationScope): Coroutine<ChannelRow[]> {
  const { resource, kind } = placeOf(scope);
  const rows = yield* tables.subscribers(q, resource, kind);
  return rows.filter((row) => row.principal === scope.principal && storedIn(row) !== null);
}

/** Configs as they were given, by subscriber; without those whose secrets cannot be opened. */
function* openedOf(
  { tables, keyring }: NotificationParts,
  q: Query,
  rows: readonly ChannelRow[],
): Coroutine<Map<string, JudgedConfig>> {
  const sealed = rows.filter((row) => storedIn(row)!.sealed === true);
  const boxes = yield* tables.secretsOf(q, sealed.map(channelRegistration));
  const boxOf = new Map(boxes.map((box) => [box.registration, box]));
  return new Map(
    rows.flatMap((row): [string, JudgedConfig][] => {
      const registration = channelRegistration(row);
      const owner = { principal: row.principal, registration };
      const opened = openConfig(keyring, storedIn(row)!, boxOf.get(registration), owner);
      return opened.ok ? [[row.subscriber, opened.config as JudgedConfig]] : [];
    }),
  );
}

/** Stores configs, the changed ones unproven. @returns those that are to be proved */
export function* storeConfigs(
  parts: NotificationParts,
  tx: Query,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
): Coroutine<Unproven[]> {
  const before = yield* rowsOf(parts, tx, scope);
  const known = yield* openedOf(parts, tx, before);
  const left = new Map(before.map((row) => [row.subscriber, row]));
  const unproven: Unproven[] = [];
  for (const config of configs) {
    const subscriber = subscriberOf(scope.principal, config.subscriber_id);
    left.delete(subscriber);
    const was = known.get(subscriber);
    const same = was !== undefined && fingerprintOf(was) === fingerprintOf(config) ? was : undefined;
    const judged = { ...config, proven: same?.proven ?? false, revision: same?.revision ?? parts.uuid() };
    const row = yield* putConfig(parts, tx, { scope, subscriber }, judged);
    if (!judged.proven && config.active !== false) unproven.push({ row, config });
  }
  for (const row of left.values()) yield* removeConfig(parts, tx, row);
  return unproven;
}

function* putConfig(
  { tables, keyring, now }: NotificationParts,
  tx: Query,
  { scope, subscriber }: { readonly scope: NotificationScope; readonly subscriber: string },
  config: JudgedConfig,
): Coroutine<ChannelRow> {
  const { principal, release = null } = scope;
  const key = { ...placeOf(scope), subscriber };
  const names = { registration: channelRegistration(key), orderingKey: channelOrderingKey(key) };
  const { stored, row: secrets } = sealedConfig({ ...names, config, principal }, keyring, now());
  const row: ChannelRow = {
    ...{ ...key, principal, release, config: JSON.stringify(stored) },
    ...{ sequence: 0, period_start: null, next_fire: null, closed: OPEN, closed_at: null },
  };
  yield* tables.putChannel(tx, row);
  if (secrets === undefined) yield* tables.dropSecrets(tx, [names.registration]);
  else yield* tables.putSecrets(tx, [secrets]);
  return row;
}

/** What is queued for it is not sent any more: its secrets are needed for nothing. */
function* removeConfig({ tables, now }: NotificationParts, tx: Query, row: ChannelRow): Coroutine<void> {
  yield* tables.putChannel(tx, { ...row, config: "null", closed: CLOSED, closed_at: now() });
  yield* tables.dropSecrets(tx, [channelRegistration(row)]);
}

/** Asks one config whether it listens, and notes what it said, unless it has been changed meanwhile. */
export async function proveConfig(
  parts: NotificationParts,
  scope: NotificationScope,
  { row, config }: Unproven,
): Promise<void> {
  const { principal } = scope;
  const reason = await parts.proof({ principal, config }, (challenge) => challengeBody(scope, config, challenge));
  await inTransaction(parts.queue, undefined, function* (tx): Coroutine<void> {
    const [current] = yield* parts.tables.channel(tx, row.resource, row.kind, row.subscriber);
    if (current === undefined || current.config !== row.config) return;
    const noted = { ...storedIn(current)!, proven: reason === undefined, ...(reason !== undefined && { reason }) };
    yield* parts.tables.putChannel(tx, { ...current, config: JSON.stringify(noted) });
  });
}

/** A URL whose secrets cannot be opened is shown without them. */
export async function listConfigs(
  parts: NotificationParts,
  scope: NotificationScope,
): Promise<NotificationConfigState[]> {
  const [rows, known] = await parts.queue.read(function* (q: Query) {
    const found = yield* rowsOf(parts, q, scope);
    return [found, yield* openedOf(parts, q, found)] as const;
  });
  return rows.map((row) => {
    const config = known.get(row.subscriber) ?? (joinConfig(storedIn(row)!, undefined) as JudgedConfig);
    const { authentication: _authentication, proven, revision: _revision, ...shown } = config;
    return { ...shown, active: proven && shown.active !== false };
  });
}
