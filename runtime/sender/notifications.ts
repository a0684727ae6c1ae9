/**
 * What accounts and agents are told of: configs that outlive every call, each proved to listen before it is active, and the
 * events that go to those who asked for their kind.
 */
import type { JsonObject, MaybePromise, Release } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { eventCatalogue } from "../facts/index.js";
import type { ChannelRow } from "../store/sender-tables.js";
import type { ChannelParts } from "./channel.js";
import { OPEN, target } from "./channel.js";
import { challengeBody, type EndpointProof, fingerprintOf } from "./endpoint-proof.js";
import { encodeBody } from "./envelope.js";
import { type Delivery, enqueue, orderingKeyOf } from "./outbox.js";
import { refused, registrationFault } from "./registration.js";
import { inTransaction } from "./transact.js";
import type { Emitted, NotificationConfig, NotificationScope, Refused, WithinOptions } from "./types.js";

/** A config as its caller may read it: no credentials. */
export interface NotificationConfigState extends Omit<NotificationConfig, "authentication"> {
  readonly active: boolean;
  /** Why it is not active though it was asked to be. */
  readonly reason?: string;
}

export interface NotificationEvent {
  /** The release's word for it: `account.status_changed`. */
  readonly kind: string;
  /** The account it tells of; absent for what tells of the agent itself. */
  readonly account?: string;
  /** Of an agent's event: who alone is told; everybody by default. */
  readonly principal?: string;
  /** Names what happened; the same when it is told again. Random by default. */
  readonly notificationId?: string;
  /** What the kind requires beside the fields that every notification has. */
  readonly body: JsonObject;
}

export interface NotificationConfigs {
  /**
   * Takes the configs of a scope instead of those it had. New and changed ones are asked to answer a challenge first, and
   * are told nothing until they have.
   * @returns a refusal, and then nothing has changed; or each config with whether it is active
   */
  sync(
    scope: NotificationScope,
    configs: readonly NotificationConfig[],
  ): Promise<{ readonly ok: true; readonly configs: readonly NotificationConfigState[] } | Refused>;
  list(scope: NotificationScope): Promise<readonly NotificationConfigState[]>;
  /**
   * Stores an event for each config that asked for its kind, in the caller's transaction.
   * @throws AdbindError `event_invalid` for a kind or a body that the release does not have
   */
  notify(event: NotificationEvent, options?: WithinOptions): MaybePromise<Emitted>;
}

export interface NotificationParts extends ChannelParts {
  readonly proof: EndpointProof;
}

/** Configs of one scope, at most (`sync_agent_notification_configs`). */
const MAX_CONFIGS = 16;
/** Agents' configs stand under one name: what tells of an account looks among all of them. */
const AGENTS = "agents";

/** A config as it is stored. */
interface StoredConfig extends NotificationConfig {
  /** It has answered a challenge as it is. */
  readonly proven: boolean;
  readonly reason?: string;
}

type Place = Pick<ChannelRow, "resource" | "kind">;

const placeOf = ({ account }: Pick<NotificationScope, "account">): Place =>
  account === undefined ? { resource: AGENTS, kind: "agent" } : { resource: account, kind: "account" };

const subscriberOf = (principal: string, id: string): string => JSON.stringify([principal, id]);

const storedIn = ({ config }: ChannelRow): StoredConfig | null => JSON.parse(config) as StoredConfig | null;

export function createNotifications(parts: NotificationParts): NotificationConfigs {
  const { queue } = parts;
  return {
    async sync(scope, configs) {
      const fault = configsFault(parts, scope, configs);
      if (fault !== undefined) return fault;
      const rows = await inTransaction(queue, undefined, (tx) => storeFlow(parts, tx, scope, configs));
      await Promise.all(rows.map((row) => prove(parts, scope, row)));
      return { ok: true, configs: await listOf(parts, scope) };
    },
    list: (scope) => listOf(parts, scope),
    notify(event, options = {}) {
      checkEvent(parts, event);
      return inTransaction(queue, options.tx, (tx) => notifyFlow(parts, tx, event));
    },
  };
}

const WHERE = "notification_configs";

function configsFault(
  { rules, spoken }: NotificationParts,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
): Refused | undefined {
  if (configs.length > MAX_CONFIGS) return refused(`at most ${MAX_CONFIGS} configs are taken`, WHERE);
  const { release } = spoken.of(scope.release);
  const seen = new Set<string>();
  for (const [at, config] of configs.entries()) {
    const where = `${WHERE}[${at}]`;
    const { subscriber_id: id } = config;
    if (typeof id !== "string" || !/^[A-Za-z0-9_.:-]{1,64}$/.test(id) || seen.has(id)) {
      return refused("subscriber_id must be one of its own, of 1 to 64 characters", `${where}.subscriber_id`);
    }
    seen.add(id);
    const fault =
      kindsFault(release, scope, config, where) ??
      registrationFault(config, where, undefined, { ...rules, version: release.version });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function kindsFault(
  release: Release,
  { account }: NotificationScope,
  config: NotificationConfig,
  where: string,
): Refused | undefined {
  const catalogue = eventCatalogue(release);
  const taken = catalogue.kindsOf(account === undefined ? "agent" : "account");
  const { event_types: types } = config;
  if (!Array.isArray(types) || types.length === 0) return refused("event_types names no event", `${where}.event_types`);
  const wrong = types.findIndex((type) => !taken.includes(type));
  if (wrong >= 0) return refused("it is told of no such event here", `${where}.event_types[${wrong}]`);
  const ofAccounts = types.some((type) => catalogue.get(type)!.channels.includes("account"));
  if (account !== undefined || !ofAccounts || config.all_authorized_accounts === true) return undefined;
  return refused("events of accounts need all_authorized_accounts", `${where}.all_authorized_accounts`);
}

/** Stores configs, the changed ones unproven. @returns those that are to be proved */
function* storeFlow(
  { tables }: NotificationParts,
  tx: Query,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
): Coroutine<ChannelRow[]> {
  const { principal, release = null } = scope;
  const place = placeOf(scope);
  const before = (yield* tables.subscribers(tx, place.resource, place.kind)).filter(
    (row) => row.principal === principal,
  );
  const known = new Map(before.map((row) => [row.subscriber, row]));
  const unproven: ChannelRow[] = [];
  for (const config of configs) {
    const subscriber = subscriberOf(principal, config.subscriber_id);
    const old = known.get(subscriber);
    const was = old === undefined ? null : storedIn(old);
    known.delete(subscriber);
    const proven = was?.proven === true && fingerprintOf(was) === fingerprintOf(config);
    const stored: StoredConfig = { ...config, proven };
    const row: ChannelRow = {
      ...{ ...place, subscriber, principal, release, config: JSON.stringify(stored) },
      ...{ sequence: 0, period_start: null, next_fire: null, closed: OPEN },
    };
    yield* tables.putChannel(tx, row);
    if (!proven && config.active !== false) unproven.push(row);
  }
  for (const row of known.values()) yield* tables.putChannel(tx, { ...row, config: "null" });
  return unproven;
}

/** Asks one config whether it listens, and notes what it said, unless it has been changed meanwhile. */
async function prove(parts: NotificationParts, scope: NotificationScope, row: ChannelRow): Promise<void> {
  const stored = storedIn(row)!;
  const reason = await parts.proof(stored, (challenge) => challengeBody(scope, stored, challenge));
  await inTransaction(parts.queue, undefined, function* (tx): Coroutine<void> {
    const [current] = yield* parts.tables.channel(tx, row.resource, row.kind, row.subscriber);
    if (current === undefined || current.config !== row.config) return;
    const next: StoredConfig = { ...stored, proven: reason === undefined, ...(reason !== undefined && { reason }) };
    yield* parts.tables.putChannel(tx, { ...current, config: JSON.stringify(next) });
  });
}

async function listOf(parts: NotificationParts, scope: NotificationScope): Promise<NotificationConfigState[]> {
  const { resource, kind } = placeOf(scope);
  const rows = await parts.queue.read((q) => parts.tables.subscribers(q, resource, kind));
  return rows.flatMap((row) => {
    const stored = storedIn(row);
    if (row.principal !== scope.principal || stored === null) return [];
    const { authentication: _, proven, ...shown } = stored;
    return [{ ...shown, active: proven && shown.active !== false }];
  });
}

/** Fields that every notification has, and the sender fills in. */
const filled = ["idempotency_key", "notification_id", "notification_type", "fired_at", "subscriber_id"];

function checkEvent({ spoken }: NotificationParts, { kind, account }: NotificationEvent): void {
  const entry = eventCatalogue(spoken.of().release).get(kind);
  const channel = account === undefined ? "agent" : "account";
  if (entry?.channels.includes(channel) === true) return;
  throw new AdbindError("event_invalid", `the release tells no ${channel} of ${kind}`, {
    where: kind,
    remedy: "name an event of the release's catalogue, and its account where it tells of one",
  });
}

function* notifyFlow(parts: NotificationParts, tx: Query, event: NotificationEvent): Coroutine<Emitted> {
  const { tables, queue, uuid, now } = parts;
  const { kind, account, principal } = event;
  const ofAccount = account === undefined ? [] : yield* tables.subscribers(tx, account, "account");
  const rows = [...ofAccount, ...(yield* tables.subscribers(tx, AGENTS, "agent"))];
  const wanted = rows.filter((row) => {
    const stored = storedIn(row);
    if (stored === null || !stored.proven || stored.active === false) return false;
    if (principal !== undefined && row.principal !== principal) return false;
    if (row.kind === "agent" && account !== undefined && stored.all_authorized_accounts !== true) return false;
    return stored.event_types.includes(kind);
  });
  const notificationId = event.notificationId ?? uuid();
  const firedAt = new Date(now()).toISOString();
  const deliveries = wanted.map((row): Delivery => {
    const key = uuid();
    const body = bodyOf(parts, row, event, { key, notificationId, firedAt });
    const orderingKey = orderingKeyOf(row.kind, JSON.stringify([account ?? "", row.subscriber]));
    const more = account !== undefined && row.kind === "agent" && { account };
    return { ...target(parts, row), ...more, subject: account ?? row.principal, key, orderingKey, type: kind, body };
  });
  yield* enqueue(queue, tx, deliveries);
  return { keys: deliveries.map(({ key }) => key) };
}

/** @throws AdbindError `event_invalid` for what the kind's schema refuses */
function bodyOf(
  { spoken }: NotificationParts,
  row: ChannelRow,
  { kind, account, body }: NotificationEvent,
  { key, notificationId, firedAt }: { key: string; notificationId: string; firedAt: string },
): Uint8Array {
  const { release, validator } = spoken.of(row.release);
  const entry = eventCatalogue(release).get(kind);
  const whole: JsonObject = {
    ...body,
    ...(account !== undefined && entry?.fields.includes("account_id") && { account_id: account }),
    idempotency_key: key,
    notification_id: notificationId,
    notification_type: kind,
    fired_at: firedAt,
    subscriber_id: storedIn(row)!.subscriber_id,
  };
  const judged = entry === undefined ? undefined : validator.schema(entry.schema, whole);
  if (judged?.ok === false) {
    const [first] = judged.errors;
    throw new AdbindError("event_invalid", `the body is none of ${kind}`, {
      where: `${first?.pointer ?? ""}: ${first?.message ?? ""}`,
      remedy: `give what release ${release.version} requires beside ${filled.join(", ")}`,
    });
  }
  return encodeBody(whole, kind);
}
