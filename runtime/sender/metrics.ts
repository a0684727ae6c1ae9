/** Counters through OpenTelemetry's API: free where no SDK is registered. Destinations are not labels: they are too many. */
import { type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import type { Job } from "../queue/types.js";
import type { AttemptReport } from "./attempt.js";
import { addedHealth, type SenderHealth } from "./health.js";

export interface SenderMetrics {
  attempted(job: Job, report: AttemptReport): void;
  /** Events that ended undelivered. */
  ended(state: "dead" | "expired" | "refused", count: number): void;
  /** Asks `read` whenever metrics are collected; of several that are told by one meter the sum is. @returns ends it */
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
  return {
    attempted(job, report) {
      const { status, handled, responseMs } = report;
      attempts.add(1, { status, class: classOf(report) });
      if (responseMs !== null) duration.record(responseMs, { class: classOf(report) });
      if (handled.outcome.kind === "dead") ended.dead.add(1);
      if (job.attempts === 0) lag.record(Math.max(0, job.startedAt - job.createdAt));
    },
    ended: (state, count) => ended[state].add(count),
    observe: gaugesOf(meter),
  };
}

type Observe = SenderMetrics["observe"];

/** A meter has one gauge of a name: of senders that each told their own it would show the last one's. */
const gauges = new WeakMap<Meter, Observe>();

function gaugesOf(meter: Meter): Observe {
  const known = gauges.get(meter) ?? observed(meter);
  gauges.set(meter, known);
  return known;
}

function observed(meter: Meter): Observe {
  const gauge = (name: string, description: string, unit?: string) =>
    meter.createObservableGauge(`adbind.sender.${name}`, { description, ...(unit !== undefined && { unit }) });
  const reads = new Set<() => Promise<SenderHealth>>();
  let reading: Promise<readonly SenderHealth[]> | undefined;
  // Four gauges, one look.
  const once = (): Promise<readonly SenderHealth[]> => {
    reading ??= Promise.all([...reads].map((read) => read())).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const told =
    (tell: (health: Omit<SenderHealth, "ok" | "reachable" | "keepsSecrets">, result: ObservableResult) => void) =>
    async (result: ObservableResult) => {
      const there = (await once()).filter(({ reachable }) => reachable);
      // What cannot be seen is not told as nothing.
      if (there.length > 0) tell(addedHealth(there), result);
    };
  const byState = (counts: object, result: ObservableResult): void => {
    for (const [state, count] of Object.entries(counts)) result.observe(count as number, { state });
  };
  const pairs = [
    [
      gauge("alarms", "What an operator should see to"),
      told(({ problems }, result) => result.observe(problems.length)),
    ],
    [gauge("backlog", "Events in the outbox by state"), told(({ counts }, result) => byState(counts, result))],
    [
      gauge("oldest_age", "Age of the oldest event that waits; 0 where none does", "s"),
      told(({ oldestMs }, result) => result.observe((oldestMs ?? 0) / 1_000)),
    ],
    [
      gauge("endpoints", "Endpoints that are paused, are left alone or fail, by state"),
      told(({ endpoints }, result) => byState(endpoints, result)),
    ],
  ] as const;
  return (read) => {
    if (reads.size === 0) for (const [instrument, callback] of pairs) instrument.addCallback(callback);
    reads.add(read);
    return () => {
      if (reads.delete(read) && reads.size === 0)
        for (const [instrument, callback] of pairs) instrument.removeCallback(callback);
    };
  };
}
