/**
 * A set of notification configs takes the place of another: each new or changed one is proved before, all of them are
 * stored in one transaction or none, and nothing but what was proved is.
 */
import canonicalize from "canonicalize";
import type { MaybePromise } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { eventCatalogue } from "../facts/index.js";
import type { SharedWork } from "../queue/each.js";
import type { ChannelKey, ChannelRow } from "../store/sender-tables.js";
import { channelOrderingKey } from "./channel.js";
import { challengeBody } from "./endpoint-proof.js";
import {
  configKey,
  isProven,
  type JudgedConfig,
  type KnownConfigs,
  knownConfigs,
  type NotificationConfigState,
  type NotificationDependencies,
  putConfig,
  recordIn,
  removeConfig,
  type SetRecord,
  setKey,
  shownConfig,
} from "./notification-configs.js";
import { refused } from "./registration.js";
import { keyless } from "./sealing.js";
import { inTransaction, takeRows } from "./transact.js";
import type { NotificationConfig, NotificationScope, Refused, WithinOptions } from "./types.js";

/** A set that may take the place of the one before. */
export interface PreparedConfigs extends SetRecord {
  readonly ok: true;
  /** What storing it does, or would. */
  readonly action: "updated" | "unchanged" | "cleared";
  readonly configs: readonly NotificationConfigState[];
  /** Stores it. @returns a refusal where the configs have changed since it was prepared: nothing is stored then */
  store(options?: WithinOptions): MaybePromise<{ readonly ok: true } | Refused>;
}

/** How a set of notification configs is taken before it is stored. */
export interface PrepareOptions {
  /** Nothing is asked of any endpoint. Default true. */
  readonly prove?: boolean;
  /** Only where the set is of this version. */
  readonly expected?: string | undefined;
}

interface Plan {
  readonly judged: readonly JudgedConfig[];
  /** Of `judged`, those that are stored anew. */
  readonly changed: readonly JudgedConfig[];
  readonly removed: readonly ChannelRow[];
  /** Of `judged`, by place, those that have to answer a challenge. */
  readonly unproven: readonly (readonly [at: number, config: JudgedConfig])[];
}

const conflict = (): Refused =>
  refused("the configs were changed by another call: read them again", "notification_configs", "CONFLICT");

const same = (one: object, other: object): boolean => canonicalize(one) === canonicalize(other);

function planOf(
  { releases, uuid }: NotificationDependencies,
  scope: NotificationScope,
  before: KnownConfigs,
  configs: readonly NotificationConfig[],
): Plan {
  const left = new Map(before.rows);
  const changed: JudgedConfig[] = [];
  const judged = configs.map((config): JudgedConfig => {
    const { subscriber } = configKey(scope, config.subscriber_id);
    left.delete(subscriber);
    const was = before.opened.get(subscriber);
    if (was !== undefined && isUnchanged(was, config, before.rows.get(subscriber)!.release, scope)) return was;
    const { release } = releases.of(scope.release);
    const future = config.include_future_event_types === true;
    const known = future && { known: eventCatalogue(release).events.map(({ kind }) => kind) };
    const one = { ...config, ...known, proven: isProven(was, config), revision: uuid() };
    changed.push(one);
    return one;
  });
  const unproven = [...judged.entries()].filter(([, { proven, active }]) => !proven && active !== false);
  return { judged, changed, removed: [...left.values()], unproven };
}

/** It stays as it stands: it is the same, and it is told of in the same release. */
function isUnchanged(
  was: JudgedConfig,
  config: NotificationConfig,
  release: string | null,
  scope: NotificationScope,
): boolean {
  const { proven, moved, known: _known, revision: _revision, ...given } = was;
  return (proven || config.active === false) && !moved && release === (scope.release ?? null) && same(given, config);
}

/** Asks each whether it listens. @returns the first that does not, as a refusal */
async function proved(
  { proof }: NotificationDependencies,
  scope: NotificationScope,
  { unproven }: Plan,
): Promise<Refused | undefined> {
  const { principal } = scope;
  const reasons = await Promise.all(
    unproven.map(([, config]) => proof({ principal, config }, (challenge) => challengeBody(scope, config, challenge))),
  );
  const failed = reasons.findIndex((reason) => reason !== undefined);
  if (failed < 0) return undefined;
  return refused(reasons[failed]!, `notification_configs[${unproven[failed]![0]}].url`, "VALIDATION_ERROR");
}

function* storePlan(
  parts: NotificationDependencies,
  tx: Query,
  scope: NotificationScope,
  of: Pick<PrepareOptions, "prove"> & {
    readonly plan: Plan;
    readonly before: SetRecord | undefined;
    readonly next: SetRecord;
  },
): Coroutine<{ readonly ok: true } | Refused> {
  const { plan, before, next, prove } = of;
  const row = yield* parts.tables.claimChannel(tx, setKey(scope), scope.principal);
  if (recordIn(row)?.version !== before?.version) return conflict();
  for (const config of plan.changed) {
    // Whatever had to give a proof has given it: else it would not have come to this.
    yield* putConfig(parts, tx, scope, {
      ...config,
      proven: config.proven || (prove === true && config.active !== false),
    });
  }
  for (const gone of plan.removed) yield* removeConfig(parts, tx, gone);
  yield* parts.tables.putChannel(tx, { ...row, config: JSON.stringify(next) });
  return { ok: true };
}

/** Rows that storing it changes. */
const channelsOf = (scope: NotificationScope, { changed, removed }: Plan): ChannelKey[] => [
  setKey(scope),
  ...changed.map((config) => configKey(scope, config.subscriber_id)),
  ...removed,
];

/**
 * What there is of a scope, to compare with what is given: where that needs a key which is not here, the keys are asked for again.
 * @throws AdbindError `secret_keys_invalid` where there is none at all: what was sealed would be stored as it is, and proved anew;
 * what the source of keys throws
 */
async function comparable(
  parts: NotificationDependencies,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
): Promise<KnownConfigs> {
  const read = (): Promise<KnownConfigs> => parts.queue.read((q) => knownConfigs(parts, q, scope));
  const isLost = ({ lost }: KnownConfigs): boolean =>
    configs.some(({ subscriber_id: id }) => lost.has(configKey(scope, id).subscriber));
  const known = await read();
  if (!isLost(known)) return known;
  await parts.keyring.refresh();
  if (!parts.keyring.seals) throw keyless("notification configs are sealed, and there are no keys of secrets here");
  return read();
}

/** @returns what may be stored, or why not: nothing has been stored either way */
export async function prepareConfigs(
  parts: NotificationDependencies,
  scope: NotificationScope,
  configs: readonly NotificationConfig[],
  { prove = true, expected }: PrepareOptions = {},
): Promise<PreparedConfigs | Refused> {
  const known = await comparable(parts, scope, configs);
  const before = known.record;
  if (expected !== undefined && expected !== before?.version) return conflict();
  const plan = planOf(parts, scope, known, configs);
  const fault = prove ? await proved(parts, scope, plan) : undefined;
  if (fault !== undefined) return fault;
  const unchanged = plan.changed.length === 0 && plan.removed.length === 0;
  const id = before?.id ?? parts.uuid();
  const next: SetRecord = unchanged && before !== undefined ? before : { id, version: parts.uuid() };
  return {
    ok: true,
    ...next,
    action: unchanged ? "unchanged" : configs.length === 0 ? "cleared" : "updated",
    configs: plan.judged.map((config) => shownConfig({ ...config, proven: true })),
    store({ tx } = {}) {
      if (next === before) return { ok: true };
      const channels = channelsOf(scope, plan);
      const work: SharedWork<{ readonly ok: true } | Refused> = function* (open, locking) {
        yield* takeRows(parts.tables, open, { channels }, locking);
        return yield* storePlan(parts, open, scope, { plan, before, next, prove });
      };
      return inTransaction(parts.queue, tx, work, channelOrderingKey(setKey(scope)));
    },
  };
}
