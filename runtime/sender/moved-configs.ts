/**
 * Notification configs that an operator has moved: whoever listens at the new place has agreed to nothing yet. What is for
 * them waits until a sender has had an answer to its challenge there; that is asked for again until it comes.
 */
import type { Coroutine, Query } from "../db/index.js";
import { eachAlone, type PeriodicStep } from "../queue/periodic.js";
import type { ChannelRow } from "../store/sender-tables.js";
import { challengeBody } from "./endpoint-proof.js";
import {
  type JudgedConfig,
  type NotificationDependencies,
  openedConfig,
  type StoredNotification,
  storedIn,
} from "./notification-configs.js";
import { inTransaction } from "./transact.js";

/** Between two challenges of one config, in milliseconds. */
export const CHALLENGE_AGAIN_MS = 300_000;
/** Configs asked in one turn; the rest follow in the next. */
const TURN_LIMIT = 16;
/** Of them, asked at a time. */
const AT_ONCE = 8;

const KINDS = ["account", "agent"] as const;

/** What a move makes of a config that has to answer a challenge, and of its row. */
export const movedFromProof = (
  config: StoredNotification,
  { now, uuid }: { readonly now: () => number; readonly uuid: () => string },
): { readonly config: StoredNotification; readonly next_fire?: number } =>
  config.active === false
    ? { config: { ...config, proven: false, revision: uuid() } }
    : { config: { ...config, proven: false, moved: true, revision: uuid() }, next_fire: now() };

/** Asks those that are due. @returns once all of them have answered, or not */
export const provingStep = (parts: NotificationDependencies): PeriodicStep => ({
  name: "prove notification configs that were moved",
  meanwhile: "what is for them waits",
  async run(stopping) {
    const { queue, now } = parts;
    const rows = await inTransaction(queue, undefined, (tx) => claimed(parts, tx, now()));
    await eachAlone(rows, (row) => proveMoved(parts, row), { atOnce: AT_ONCE, stopping });
  },
});

/** Those that are due, and nobody else's for a while. */
function* claimed({ tables }: NotificationDependencies, tx: Query, now: number): Coroutine<ChannelRow[]> {
  const due = yield* tables.dueChannels(tx, KINDS, now, TURN_LIMIT);
  const rows: ChannelRow[] = [];
  for (const { resource, kind, subscriber } of due) {
    const [row] = yield* tables.channel(tx, resource, kind, subscriber);
    if (row?.next_fire == null || row.next_fire > now) continue;
    const next = { ...row, next_fire: now + CHALLENGE_AGAIN_MS };
    yield* tables.putChannel(tx, next);
    rows.push(next);
  }
  return rows;
}

async function proveMoved(parts: NotificationDependencies, row: ChannelRow): Promise<void> {
  const { queue, log, proof } = parts;
  const { principal, resource, kind } = row;
  const config = await queue.read((q) => openedConfig(parts, q, row));
  if (config === undefined) return;
  const scope = { principal, ...(kind === "account" && { account: resource }) };
  const reason = await proof({ principal, config }, (challenge) => challengeBody(scope, config, challenge));
  if (reason === undefined) await queue.transact((tx) => noteProof(parts, tx, row, config));
  else
    log?.warn({ principal, subscriber: config.subscriber_id, reason }, "a moved config is not proved: its events wait");
}

/** What was proved is noted of that, and of nothing that came after. */
function* noteProof(
  { tables }: NotificationDependencies,
  tx: Query,
  { resource, kind, subscriber, next_fire: claim }: ChannelRow,
  { revision }: JudgedConfig,
): Coroutine<void> {
  const [row] = yield* tables.channel(tx, resource, kind, subscriber);
  const stored = row && storedIn(row);
  if (row === undefined || stored == null || stored.revision !== revision || row.next_fire !== claim) return;
  const { moved: _moved, ...proved } = { ...stored, proven: true };
  yield* tables.putChannel(tx, { ...row, config: JSON.stringify(proved), next_fire: null });
}
