/** Counters through OpenTelemetry's API: free where no SDK is registered. Destinations are not labels: they are too many. */
import { type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import type { Job } from "../queue/types.js";
import type { AttemptReport } from "./attempt.js";
import type { SenderHealth } from "./health.js";

export interface SenderMetrics {
  attempted(job: Job, report: AttemptReport): void;
  /** Events that ended undelivered. */
  ended(state: "dead" | "expired" | "refused", count: number): void;
  /** @param count things that an operator should see to */
  alarmed(count: number): void;
  /** Asks `read` whenever metrics are collected. @returns ends it */
  observe(read: () => Promise<SenderHealth>): () => void;
}

/** `2xx` ... `5xx`; `none` where no answer came, or nothing was sent. */
const classOf = ({ httpStatus }: AttemptReport): string =>
  httpStatus === null ? "none" : `${Math.floor(httpStatus / 100)}xx`;

/** Instruments are named `adbind.sender.*`; docs/webhooks-out.md lists them. */
export function senderMetrics(meter: Meter = metrics.getMeter("adbind")): SenderMetrics {
  const counter = (name: string, description: string) => meter.createCounter(`adbind.sender.${name}`, { description });
  const attempts = counter("attempts", "Webhook attempts by status and class of the answer");
  const ended = {
    dead: counter("dead_letters", "Events given up after attempts"),
    expired: counter("expired", "Events given up that were never attempted"),
    refused: counter("refused", "Events set aside: they cannot be read or carried out"),
  };
  const ms = (name: string, description: string) =>
    meter.createHistogram(`adbind.sender.${name}`, { description, unit: "ms" });
  const lag = ms("first_attempt", "From an event's making to its first attempt");
  const duration = ms("duration", "From sending a request to its answer");
  const alarms = meter.createGauge("adbind.sender.alarms", { description: "What an operator should see to" });
  const seen = observed(meter);
  return {
    alarmed: (count) => alarms.record(count),
    attempted(job, report) {
      const { status, handled, responseMs } = report;
      attempts.add(1, { status, class: classOf(report) });
      if (responseMs !== null) duration.record(responseMs, { class: classOf(report) });
      if (handled.outcome.kind === "dead") ended.dead.add(1);
      if (job.attempts === 0) lag.record(Math.max(0, job.startedAt - job.createdAt));
    },
    ended: (state, count) => ended[state].add(count),
    observe: seen,
  };
}

function observed(meter: Meter): SenderMetrics["observe"] {
  const gauge = (name: string, description: string, unit?: string) =>
    meter.createObservableGauge(`adbind.sender.${name}`, { description, ...(unit !== undefined && { unit }) });
  const backlog = gauge("backlog", "Events in the outbox by state");
  const oldest = gauge("oldest_age", "Age of the oldest event that waits; 0 where none does", "s");
  const endpoints = gauge("endpoints", "Endpoints that are paused, are left alone or fail, by state");
  return (read) => {
    let reading: Promise<SenderHealth> | undefined;
    // Three gauges, one look.
    const once = (): Promise<SenderHealth> => {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    };
    const told =
      <Result>(tell: (health: SenderHealth, result: Result) => void) =>
      async (result: Result) => {
        const health = await once();
        // What cannot be seen is not told as nothing.
        if (health.reachable) tell(health, result);
      };
    const byState = (of: (health: SenderHealth) => object) =>
      told((health: SenderHealth, result: ObservableResult) => {
        for (const [state, count] of Object.entries(of(health))) result.observe(count as number, { state });
      });
    const pairs = [
      [backlog, byState(({ counts }) => counts)],
      [
        oldest,
        told((health: SenderHealth, result: ObservableResult) => result.observe((health.oldestMs ?? 0) / 1_000)),
      ],
      [endpoints, byState((health) => health.endpoints)],
    ] as const;
    for (const [instrument, callback] of pairs) instrument.addCallback(callback);
    return () => {
      for (const [instrument, callback] of pairs) instrument.removeCallback(callback);
    };
  };
}
