/** Delivery reports at their time: the source is asked outside any transaction, the fire and its schedule commit as one. */
import { dayAt, startOfDay, UTC } from "../calendar.js";
import type { JsonObject } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { eventCatalogue, surfaceMember } from "../facts/index.js";
import { eachAlone } from "../queue/periodic.js";
import type { ChannelRow } from "../store/sender-tables.js";
import type { ReportingWebhook } from "./buy-configs.js";
import { nextTurn } from "./calendar.js";
import { type ChannelDependencies, channelOrderingKey, closedError, isNamed, target, tokenedBody } from "./channel.js";
import { CLOSED, CLOSING } from "./channel-state.js";
import { inTime } from "./deadline.js";
import { type Delivery, enqueue } from "./outbox.js";
import { channelRegistration, type StoredConfig } from "./registered-config.js";
import { checkTimes } from "./times.js";
import { inTransaction } from "./transact.js";
import type { CorrectedReport, Emitted, ReportData } from "./types.js";

/** What a correction is called: every release has the first. */
const [ADJUSTED, WINDOW_UPDATE] = ["adjusted", "window_update"] as const;
/** Reports that are looked for at a time, a share of each principal's. */
const FIRE_LIMIT = 32;
/** Of them, asked for at a time: a source that is slow with one delays the others little. */
const AT_ONCE = 16;
/** A turn goes on for so long while there are more, in milliseconds. */
const TURN_MS = 10_000;
/** A final report whose data is late is asked for again after this long, in milliseconds. */
export const FINAL_RETRY_MS = 3_600_000;
/** After a source threw, it is asked again after this long, in milliseconds. */
const FAULT_DELAY_MS = 60_000;

type Sourced =
  | { readonly delayed: false; readonly data: ReportData }
  | { readonly delayed: true; readonly data: ReportData };

/**
 * Fires reports that are due, while there are many for some time. Those that were asked for when it is to stop are not fired:
 * they are asked for again.
 * @throws what the sources of some of them threw, or that they were late, after the others have been fired
 */
export async function fireReports(parts: ChannelDependencies, stopping: AbortSignal): Promise<void> {
  const end = performance.now() + TURN_MS;
  while ((await fireSome(parts, stopping)) >= FIRE_LIMIT && !stopping.aborted && performance.now() < end);
}

/** @returns how many there were */
async function fireSome(parts: ChannelDependencies, stopping: AbortSignal): Promise<number> {
  const { queue, tables, now, reports } = parts;
  // They are for an instance that can make them.
  if (reports === undefined) return 0;
  const at = now();
  const rows = await inTransaction(queue, undefined, (tx) => tables.dueChannels(tx, ["reporting"], at, FIRE_LIMIT));
  const fire = async (row: ChannelRow): Promise<void> => {
    try {
      await fireOne(parts, row, { at, stopping });
    } catch (error) {
      if (stopping.aborted) return;
      // Where not even this can be written, it is due again at once: what is told is why it could not be fired.
      await Promise.allSettled([postpone(parts, row, now() + FAULT_DELAY_MS)]);
      throw error;
    }
  };
  await eachAlone(rows, fire, { atOnce: AT_ONCE, stopping });
  return rows.length;
}

const postpone = ({ queue, tables }: ChannelDependencies, row: ChannelRow, until: number) =>
  inTransaction(queue, undefined, function* (tx): Coroutine<void> {
    if (!(yield* tables.takeFree(tx, { channels: [row] }))) return;
    const [current] = yield* tables.channel(tx, row.resource, row.kind);
    if (current?.next_fire !== row.next_fire) return;
    yield* tables.putChannel(tx, { ...current, next_fire: until });
  });

const configOf = (row: ChannelRow) => JSON.parse(row.config) as StoredConfig<ReportingWebhook>;

/**
 * The period a fire covers: up to the turn it is due at, or to now where the buy has ended. After a delayed report it is
 * more than one turn long. What was due by another frequency or calendar than the turn of now, which is still to come, is of
 * the days that are over: where there is none it ends at that turn.
 */
const periodOf = (row: ChannelRow, at: number) => {
  const start = row.period_start ?? at;
  if (row.closed === CLOSING) return { start, end: Math.max(start, at) };
  const { reporting_frequency: frequency, timezone } = configOf(row);
  let end = nextTurn(frequency, start, timezone);
  for (let turn = end; turn <= (row.next_fire ?? at); turn = nextTurn(frequency, turn, timezone)) end = turn;
  const today = startOfDay(dayAt(at, timezone), timezone);
  return { start, end: end > at && today > start ? today : end };
};

/**
 * When a channel that is registered anew is due: a report that is owed already, and is asked for again, is not put off by it.
 * @param next by its new config, unix milliseconds
 */
export function turnAnew(known: ChannelRow | undefined, next: number, now: number): number {
  const before = (JSON.parse(known?.config ?? "null") ?? {}) as Partial<StoredConfig<ReportingWebhook>>;
  if (known?.next_fire == null || known.period_start === null || before.reporting_frequency === undefined) return next;
  const turn = nextTurn(before.reporting_frequency, known.period_start, before.timezone);
  return turn <= now ? Math.min(known.next_fire, next) : next;
}

interface Turn {
  /** When it is, in unix milliseconds. */
  readonly at: number;
  readonly stopping: AbortSignal;
}

async function fireOne(parts: ChannelDependencies, row: ChannelRow, { at, stopping }: Turn): Promise<void> {
  const { queue, tables, uuid } = parts;
  const final = row.closed === CLOSING;
  const period = periodOf(row, at);
  if (!final && period.end > at) return void (await postpone(parts, row, period.end));
  const sourced = await ask(parts, row, { period, stopping });
  await inTransaction(queue, undefined, function* (tx): Coroutine<void> {
    // Nobody's report waits for a transaction that is open on another's channel: its turn comes again.
    if (!(yield* tables.takeFree(tx, { channels: [row] }))) return;
    const [current] = yield* tables.channel(tx, row.resource, row.kind);
    // Another instance was faster, or the buy ended meanwhile: what was asked for is not what is due any more.
    if (current === undefined || current.next_fire !== row.next_fire || current.closed !== row.closed) return;
    if (current.config === "null" || !isNamed(parts, current)) return;
    const { reporting_frequency: frequency, timezone } = configOf(current);
    const over = final && !sourced.delayed;
    const turn = nextTurn(frequency, sourced.delayed ? at : period.end, timezone);
    const next = over ? null : final ? at + FINAL_RETRY_MS : turn;
    const fire: ReportFire = {
      key: uuid(),
      type: sourced.delayed ? "delayed" : final ? "final" : "scheduled",
      sequence: current.sequence + 1,
      period,
      now: at,
      nextExpected: next ?? undefined,
    };
    yield* enqueue(parts, tx, [reportDelivery(parts, current, fire, sourced.data)]);
    yield* tables.putChannel(tx, {
      ...current,
      sequence: fire.sequence,
      // What was late is covered by the next report.
      period_start: sourced.delayed ? current.period_start : period.end,
      next_fire: next,
      closed: over ? CLOSED : current.closed,
      closed_at: over ? at : null,
    });
    if (over) yield* tables.checkSecrets(tx, [channelRegistration(current)], at);
  });
}

async function ask(
  { reports, releases, callbackMs: limitMs }: ChannelDependencies,
  row: ChannelRow,
  { period, stopping }: { readonly period: { start: number; end: number }; readonly stopping: AbortSignal },
): Promise<Sourced> {
  const { requested_metrics: requestedMetrics, timezone = UTC } = configOf(row);
  const asked = reports!({
    mediaBuyId: row.resource,
    principal: row.principal,
    notificationType: row.closed === CLOSING ? "final" : "scheduled",
    release: releases.of(row.release).release.version,
    period,
    timezone,
    requestedMetrics,
  });
  const answer = await inTime(asked, { limitMs, who: `the source of reports, for ${row.resource},`, stopping });
  if (!("delayed" in answer && answer.delayed === true)) return { delayed: false, data: answer as ReportData };
  const { currency, expectedAt } = answer as { currency: string; expectedAt?: string };
  const delayedRow = {
    media_buy_id: row.resource,
    status: "reporting_delayed",
    totals: { spend: 0 },
    by_package: [],
    ...(expectedAt !== undefined && { expected_availability: expectedAt }),
  };
  return { delayed: true, data: { currency, media_buy_deliveries: [delayedRow] } };
}

/**
 * Its receiver goes by the type: a correction that is called `final` would be believed to be the last report.
 * @throws AdbindError `event_invalid` for another type, or one that the release has not, and for no period
 */
function checkCorrection(
  { releases }: ChannelDependencies,
  { period, notificationType: type = ADJUSTED }: CorrectedReport,
  version: string | null | undefined,
): void {
  const { release } = releases.of(version);
  const has = type === WINDOW_UPDATE && eventCatalogue(release).kindsOf("reporting").includes(type);
  if (type !== ADJUSTED && !has)
    throw new AdbindError("event_invalid", `release ${release.version} has no such correction of a report`, {
      where: `notificationType: ${type}`,
      remedy: `use ${ADJUSTED}`,
    });
  if (period?.start === undefined || period.end === undefined)
    throw new AdbindError("event_invalid", "a corrected report is not complete", {
      where: "period",
      remedy: "give its start and its end in unix milliseconds",
    });
  checkTimes({ "period.start": period.start, "period.end": period.end });
}

/** Sends a corrected report of a period. */
export function* adjustedFlow(
  parts: ChannelDependencies,
  tx: Query,
  resource: string,
  corrected: CorrectedReport,
): Coroutine<Emitted> {
  const { tables, uuid, now } = parts;
  const { period, notificationType: type = ADJUSTED, ...report } = corrected;
  const [channel] = yield* tables.channel(tx, resource, "reporting");
  checkCorrection(parts, corrected, channel?.release);
  if (channel === undefined || channel.config === "null" || !isNamed(parts, channel)) return { keys: [] };
  if (channel.closed === CLOSED) throw closedError(resource);
  const key = uuid();
  const sequence = channel.sequence + 1;
  const made: ReportFire = { key, type, sequence, period, now: now() };
  yield* tables.putChannel(tx, { ...channel, sequence });
  yield* enqueue(parts, tx, [reportDelivery(parts, channel, made, report as ReportData)]);
  return { keys: [key] };
}

interface ReportFire {
  readonly key: string;
  readonly type: "scheduled" | "final" | "delayed" | "adjusted" | "window_update";
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly period: { readonly start: number; readonly end: number };
  readonly now: number;
  readonly nextExpected?: number | undefined;
}

/** A report inside its envelope (docs/protocol/webhooks.md#delivery-reports). */
function reportDelivery(
  { releases }: Pick<ChannelDependencies, "releases">,
  channel: ChannelRow,
  fire: ReportFire,
  report: ReportData,
): Delivery {
  const config = configOf(channel);
  const { timezone } = config;
  // Totals across buys belong to queries, and reports carry no notification id: they must not be here.
  const { aggregated_totals: _totals, notification_id: _id, ...data } = report;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const body: JsonObject = {
    idempotency_key: fire.key,
    operation_id: config.operation_id,
    // A task ends once, and each report is a task's end: one of its own.
    task_id: `${channel.resource}.report.${fire.sequence}`,
    task_type: "media_buy_delivery",
    [surfaceMember(releases.of(channel.release).release)]: "media-buy",
    status: "completed",
    timestamp: iso(fire.now),
    result: {
      ...data,
      notification_type: fire.type,
      sequence_number: fire.sequence,
      next_expected_at: fire.nextExpected === undefined ? undefined : iso(fire.nextExpected),
      reporting_period: { start: iso(fire.period.start), end: iso(fire.period.end), timezone },
    },
  };
  return {
    ...target({ releases }, channel),
    key: fire.key,
    orderingKey: channelOrderingKey(channel),
    type: fire.type,
    sequence: fire.sequence,
    ...tokenedBody(config, body, `media buy ${channel.resource}`),
  };
}
