/** Configs of notifications in their rows: what is secret of them is sealed, and gone with them. */
import type { Coroutine, Query } from "../db/index.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { ChannelKey, ChannelRow } from "../store/sender-tables.js";
import { type ChannelDependencies, channelOrderingKey } from "./channel.js";
import { CLOSED, OPEN } from "./channel-state.js";
import { type EndpointProof, fingerprintOf } from "./endpoint-proof.js";
import { checkSoughtNames } from "./ids.js";
import type { AskingConfig } from "./notification-kinds.js";
import { orderingKeyOf } from "./outbox.js";
import { channelRegistration, joinConfig, openConfig, type StoredConfig } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import type { LegacyAuthentication, NotificationConfig, NotificationScope } from "./types.js";

/** A config as its caller may read it: no credentials. */
export interface NotificationConfigState extends Omit<NotificationConfig, "authentication"> {
  readonly authentication?: Pick<LegacyAuthentication, "schemes">;
  /** It is told of events: it is not paused, and its endpoint has answered a challenge where it is now. */
  readonly active: boolean;
}

/** The configs of a scope, and which state of them that is. */
export interface NotificationSet {
  /** Names the scope's own record, random; undefined where there never was a config. */
  readonly id: string | undefined;
  /** Another one after each change of the configs; compared for equality only. Undefined where there never was one. */
  readonly version: string | undefined;
  readonly configs: readonly NotificationConfigState[];
}

export interface NotificationDependencies extends ChannelDependencies {
  readonly proof: EndpointProof;
}

/** Agents' configs stand under one name: what tells of an account looks among all of them. */
export const AGENTS = "agents";

/** A config with what is known of its endpoint. */
export interface JudgedConfig extends NotificationConfig, AskingConfig {
  /** It has answered a challenge as it is. */
  readonly proven: boolean;
  /** An operator moved it: what is for it waits until it has answered where it is now. */
  readonly moved?: true;
  /** Another one when its place or its credentials change, which the rest does not tell where they are sealed. */
  readonly revision: string;
}

export type StoredNotification = StoredConfig<JudgedConfig>;

/** What is kept of a scope beside its configs. */
export interface SetRecord {
  readonly id: string;
  readonly version: string;
}

const placeOf = ({ account }: Pick<NotificationScope, "account">): Pick<ChannelRow, "resource" | "kind"> =>
  account === undefined ? { resource: AGENTS, kind: "agent" } : { resource: account, kind: "account" };

export const configKey = (scope: NotificationScope, id: string): ChannelKey => ({
  ...placeOf(scope),
  subscriber: JSON.stringify([scope.principal, id]),
});

/** Ordering key of what a config is told of an account, or of the agent itself: all of one config begin with the latter. */
export const toldKey = ({ kind, subscriber }: ChannelKey, account: string): string =>
  orderingKeyOf(orderingKeyOf(kind, subscriber), account);

/** The row of a scope's record: whoever replaces its configs locks it. */
export const setKey = (scope: NotificationScope): ChannelKey => {
  const { resource, kind } = placeOf(scope);
  return { resource, kind: `${kind} configs`, subscriber: scope.principal };
};

/** Null for one that was removed. */
export const storedIn = ({ config }: Pick<ChannelRow, "config">): StoredNotification | null =>
  JSON.parse(config) as StoredNotification | null;

export const recordIn = (row: Pick<ChannelRow, "config"> | undefined): SetRecord | undefined =>
  row === undefined ? undefined : ((JSON.parse(row.config) as SetRecord | null) ?? undefined);

export interface KnownConfigs {
  readonly record: SetRecord | undefined;
  /** By subscriber, those that were not removed. */
  readonly rows: ReadonlyMap<string, ChannelRow>;
  /** As they were given; without those whose secrets cannot be opened. */
  readonly opened: ReadonlyMap<string, JudgedConfig>;
  /** Subscribers of those whose secrets are under a key that is not here. */
  readonly lost: ReadonlySet<string>;
}

/** What there is of a scope. Locks nothing. */
export function* knownConfigs(
  { tables, keyring }: NotificationDependencies,
  q: Query,
  scope: NotificationScope,
): Coroutine<KnownConfigs> {
  const { resource, kind } = placeOf(scope);
  const [set] = yield* tables.channelTargets(q, [setKey(scope)]);
  const all = yield* tables.subscribers(q, resource, kind, scope.principal);
  const rows = all.filter((row) => storedIn(row) !== null);
  const sealed = rows.filter((row) => storedIn(row)!.sealed === true);
  const boxes = yield* tables.secretsOf(q, sealed.map(channelRegistration));
  const boxOf = new Map(boxes.map((box) => [box.registration, box]));
  const opened = rows.flatMap((row): [string, JudgedConfig][] => {
    const config = openedWith(keyring, row, boxOf.get(channelRegistration(row)));
    return config === undefined ? [] : [[row.subscriber, config]];
  });
  const lost = sealed.filter((row) => {
    const box = boxOf.get(channelRegistration(row));
    return box !== undefined && !keyring.knows(box.key_id);
  });
  return {
    record: recordIn(set),
    rows: new Map(rows.map((row) => [row.subscriber, row])),
    opened: new Map(opened),
    lost: new Set(lost.map(({ subscriber }) => subscriber)),
  };
}

function openedWith(
  keyring: NotificationDependencies["keyring"],
  row: ChannelRow,
  box: SecretRow | undefined,
): JudgedConfig | undefined {
  const owner = { principal: row.principal, registration: channelRegistration(row) };
  const opened = openConfig(keyring, storedIn(row)!, box, owner);
  return opened.ok ? (opened.config as JudgedConfig) : undefined;
}

/** A config as it was given; undefined where its secrets cannot be opened. */
export function* openedConfig(
  { tables, keyring }: NotificationDependencies,
  q: Query,
  row: ChannelRow,
): Coroutine<JudgedConfig | undefined> {
  const sealed = storedIn(row)!.sealed === true;
  const [box] = sealed ? yield* tables.secretsOf(q, [channelRegistration(row)]) : [];
  return openedWith(keyring, row, box);
}

/** The same place, credentials and kinds: what was proved of it still holds. */
export const isProven = (was: JudgedConfig | undefined, config: NotificationConfig): boolean =>
  was?.proven === true && fingerprintOf(was) === fingerprintOf(config);

export function* putConfig(
  { queue, tables, keyring, now }: NotificationDependencies,
  tx: Query,
  scope: NotificationScope,
  config: JudgedConfig,
): Coroutine<void> {
  const { principal, release = null } = scope;
  const key = configKey(scope, config.subscriber_id);
  const names = { registration: channelRegistration(key), orderingKey: channelOrderingKey(key) };
  const { stored, row: secrets, endpoint } = sealedConfig({ ...names, config, principal }, keyring, now());
  yield* tables.putChannel(tx, {
    ...{ ...key, principal, release, config: JSON.stringify(stored) },
    ...{ sequence: 0, period_start: null, next_fire: null, closed: OPEN, closed_at: null, endpoint },
  });
  // Of the accounts that an agent is told of, each has an order of its own.
  const told = scope.account === undefined ? { prefix: toldKey(key, "") } : toldKey(key, scope.account);
  yield* queue.redirect(tx, told, endpoint);
  if (secrets === undefined) yield* tables.dropSecrets(tx, [names.registration]);
  else yield* tables.putSecrets(tx, [secrets]);
}

/** What is queued for it is not sent any more: its secrets are needed for nothing. */
export function* removeConfig({ tables, now }: NotificationDependencies, tx: Query, row: ChannelRow): Coroutine<void> {
  yield* tables.putChannel(tx, {
    ...row,
    config: "null",
    endpoint: null,
    next_fire: null,
    closed: CLOSED,
    closed_at: now(),
  });
  yield* tables.dropSecrets(tx, [channelRegistration(row)]);
}

/** A config without its credentials and without what only the sender knows. */
export function shownConfig(config: JudgedConfig): NotificationConfigState {
  const { authentication, proven, revision: _revision, moved: _moved, known: _known, ...shown } = config;
  return {
    ...shown,
    ...(authentication !== undefined && { authentication: { schemes: authentication.schemes } }),
    active: proven && shown.active !== false,
  };
}

/** A URL whose secrets cannot be opened is shown without them. */
export async function readSet(parts: NotificationDependencies, scope: NotificationScope): Promise<NotificationSet> {
  const { principal, account } = scope;
  checkSoughtNames({ principal, account });
  const { record, rows, opened } = await parts.queue.read((q) => knownConfigs(parts, q, scope));
  const configs = [...rows.values()].map((row) =>
    shownConfig(opened.get(row.subscriber) ?? (joinConfig(storedIn(row)!, undefined) as JudgedConfig)),
  );
  return { id: record?.id, version: record?.version, configs };
}
