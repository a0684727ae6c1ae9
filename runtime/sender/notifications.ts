/**
 * What accounts and agents are told of: configs that outlive every call, each proved to listen before it is active, and the
 * events that go to those who asked for their kind.
 */
import type { JsonObject, MaybePromise, Release } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { eventCatalogue } from "../facts/index.js";
import type { ChannelRow } from "../store/sender-tables.js";
import { isReadable, target } from "./channel.js";
import { encodeBody } from "./envelope.js";
import { checkSoughtNames, checkStorableNames } from "./ids.js";
import {
  AGENTS,
  type NotificationConfigState,
  type NotificationDependencies,
  type NotificationSet,
  readSet,
  type StoredNotification,
  storedIn,
  toldKey,
} from "./notification-configs.js";
import { asksFor } from "./notification-kinds.js";
import { type PreparedConfigs, type PrepareOptions, prepareConfigs } from "./notification-sets.js";
import { type Delivery, enqueue } from "./outbox.js";
import { refused, registrationFault } from "./registration.js";
import { takenNotification } from "./taken-config.js";
import { holdOwner, inTransaction } from "./transact.js";
import type { Emitted, NotificationConfig, NotificationScope, Refused, WithinOptions } from "./types.js";
import { builtOr, undeliverable } from "./undeliverable.js";

/** A change to be told to the configs that ask for its kind. */
export interface NotificationEvent {
  /** The release's word for it: `account.status_changed`. */
  readonly kind: string;
  /** The account it tells of; absent for what tells of the agent itself. */
  readonly account?: string;
  /** Who alone is told; everybody who asked for it by default. */
  readonly principal?: string;
  /** Names what happened; the same when it is told again. Random by default. */
  readonly notificationId?: string;
  /** What its deliveries are listed under in `webhook_activity[]`; the account, or the agent's principal, by default. */
  readonly subject?: string;
  /** What the kind requires beside the fields that every notification has. */
  readonly body: JsonObject;
}

/** Notification configs of accounts and callers: proved, kept, told. */
export interface NotificationConfigs {
  /**
   * Takes the configs of a scope instead of those it had. New and changed ones are asked to answer a challenge first; until
   * all have, those before stay as they were, and are told as they were.
   * @returns a refusal, and then nothing has changed; or each config as it is now
   */
  sync(
    scope: NotificationScope,
    configs: readonly NotificationConfig[],
  ): Promise<{ readonly ok: true; readonly configs: readonly NotificationConfigState[] } | Refused>;
  /** The same in two steps: what is asked of endpoints, and what is stored with what else a call stores. */
  prepare(
    scope: NotificationScope,
    configs: readonly NotificationConfig[],
    options?: PrepareOptions,
  ): Promise<PreparedConfigs | Refused>;
  read(scope: NotificationScope): Promise<NotificationSet>;
  list(scope: NotificationScope): Promise<readonly NotificationConfigState[]>;
  /** Whether accounts, or agents, are told of a kind at all, as the seller's release has it. */
  tells(channel: "account" | "agent", kind: string): boolean;
  /**
   * Stores an event for each config that asked for its kind, in the caller's transaction.
   * @throws AdbindError `event_invalid` for a kind or a body that the release does not have, and for names that cannot be stored
   */
  notify(event: NotificationEvent, options?: WithinOptions): MaybePromise<Emitted>;
}

/** Configs of one scope, at most (`sync_agent_notification_configs`). */
const MAX_CONFIGS = 16;
export function createNotifications(parts: NotificationDependencies): NotificationConfigs {
  const { queue } = parts;
  const prepare: NotificationConfigs["prepare"] = async (scope, configs, options) =>
    configsFault(parts, scope, configs) ?? prepareConfigs(parts, scope, configs.map(takenNotification), options);
  return {
    async sync(scope, configs) {
      const prepared = await prepare(scope, configs);
      if (!prepared.ok) return prepared;
      const stored = await prepared.store();
      return stored.ok ? { ok: true, configs: prepared.configs } : stored;
    },
    prepare,
    read: (scope) => readSet(parts, scope),
    list: async (scope) => (await readSet(parts, scope)).configs,
    tells: (channel, kind) => isToldOf(parts, channel, kind),
    notify(event, options = {}) {
      checkEvent(parts, event);
      return inTransaction(queue, options.tx, (tx) => notifyFlow(parts, tx, event));
    },
  };
}

const WHERE = "notification_configs";

/** @throws AdbindError `event_invalid` for a scope that cannot be stored */
function configsFault(
  { rules, releases }: NotificationDependencies,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
): Refused | undefined {
  const { principal, account } = scope;
  checkStorableNames({ principal, account });
  if (configs.length > MAX_CONFIGS) return refused(`at most ${MAX_CONFIGS} configs are taken`, WHERE);
  const { release } = releases.of(scope.release);
  // A challenge says how events will be proved, in the release's words.
  const refuse = { ...rules.refuse, standardWebhooks: true };
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
      registrationFault(config, where, undefined, { ...rules, refuse, version: release.version });
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

/** Fields that every notification has, and the sender fills in. */
const filled = ["idempotency_key", "notification_id", "notification_type", "fired_at", "subscriber_id"];

const isToldOf = ({ releases }: NotificationDependencies, channel: "account" | "agent", kind: string): boolean =>
  eventCatalogue(releases.of().release).get(kind)?.channels.includes(channel) === true;

function checkEvent(parts: NotificationDependencies, event: NotificationEvent): void {
  const { kind, account, principal, subject, notificationId } = event;
  checkSoughtNames({ principal });
  checkStorableNames({ account, subject, notificationId });
  const channel = account === undefined ? "agent" : "account";
  if (isToldOf(parts, channel, kind)) return;
  throw new AdbindError("event_invalid", `the release tells no ${channel} of ${kind}`, {
    where: kind,
    remedy: "name an event of the release's catalogue, and its account where it tells of one",
  });
}

function* notifyFlow(parts: NotificationDependencies, tx: Query, event: NotificationEvent): Coroutine<Emitted> {
  const { tables, uuid, now } = parts;
  const { kind, account, principal } = event;
  yield* holdOwner(tables, tx, principal);
  const ofAccount = account === undefined ? [] : yield* tables.subscribers(tx, account, "account", principal);
  const rows = [...ofAccount, ...(yield* tables.subscribers(tx, AGENTS, "agent", principal))];
  const wanted = rows.filter((row) => {
    if (!isReadable(row, parts.log)) return false;
    const stored = storedIn(row);
    if (stored === null || !isTold(stored)) return false;
    return asksFor(parts.releases, stored, { kind, account: row.kind === "agent" ? account : undefined });
  });
  const notificationId = event.notificationId ?? uuid();
  const firedAt = new Date(now()).toISOString();
  const deliver = (row: ChannelRow): Delivery => {
    const key = uuid();
    const body = bodyOf(parts, row, event, { key, notificationId, firedAt });
    const orderingKey = toldKey(row, account ?? "");
    const more = account !== undefined && row.kind === "agent" && { account };
    const subject = event.subject ?? account ?? row.principal;
    const named = { notificationId, subscriberId: storedIn(row)!.subscriber_id };
    return { ...target(parts, row), ...more, ...named, subject, key, orderingKey, type: kind, body };
  };
  const deliveries = wanted.map((row) =>
    builtOr(
      () => deliver(row),
      (why) => {
        // What the sender's own release refuses is the caller's fault, and told to him; not what another's does.
        bodyOf(parts, { ...row, release: null }, event, { key: uuid(), notificationId, firedAt });
        return undeliverable(parts, row, { type: kind, why });
      },
    ),
  );
  yield* enqueue(parts, tx, deliveries);
  return { keys: deliveries.map(({ key }) => key) };
}

/** Where it was moved to it is still to answer: what is for it is kept until it has. */
const isTold = ({ proven, moved, active }: StoredNotification): boolean =>
  (proven || moved === true) && active !== false;

/** @throws AdbindError `event_invalid` for what the kind's schema refuses */
function bodyOf(
  { releases }: NotificationDependencies,
  row: ChannelRow,
  { kind, account, body }: NotificationEvent,
  { key, notificationId, firedAt }: { key: string; notificationId: string; firedAt: string },
): string {
  const own = releases.of(row.release);
  // A kind that the config's own release does not have is told as the sender's has it.
  const { release, validator } = eventCatalogue(own.release).get(kind) === undefined ? releases.of() : own;
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
