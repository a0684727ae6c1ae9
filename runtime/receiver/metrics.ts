/** What a receiver counts, through OpenTelemetry's API: nothing is exported unless the application sets up an SDK. */
import type { BatchObservableCallback, Meter } from "@opentelemetry/api";
import type { EventKind } from "../store/types.js";
import type { RunOutcome } from "./tracing.js";

export interface ReceiverMetrics {
  accepted(kind: EventKind, parked: boolean): void;
  duplicate(): void;
  /** Claimed and not applied. */
  stale(reason: string): void;
  refused(code: string): void;
  /** Something no sender should do: a changed body under one key, a second terminal state. */
  anomaly(type: string): void;
  /** Seconds between an event's own time and its arrival. */
  lag(seconds: number): void;
  /** @param seconds what the run took */
  handled(outcome: RunOutcome, kind: EventKind, seconds: number): void;
  /** @param seconds from the request's header fields to its answer, the body's coming included */
  answered(status: number, seconds: number): void;
  newKeyid(): void;
  /** Asks `read` whenever metrics are collected. */
  backlog(read: () => Promise<BacklogReading>): () => void;
  /** Asks `read` whenever metrics are collected: whether each database of a split answered when it was last asked. */
  databases(read: () => readonly { readonly name: string; readonly reachable: boolean }[]): () => void;
}

export interface BacklogReading {
  /** Events by state. */
  readonly events: Readonly<Record<string, number>>;
  /** Age of the oldest event that waits for its handler, in seconds; 0 where none waits. */
  readonly oldestSeconds: number;
}

/** Seconds: an answer takes milliseconds, a handler may take its minute. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Instruments are named `adbind.receiver.*`. */
export function receiverMetrics(meter: Meter): ReceiverMetrics {
  const counter = (name: string, description: string) =>
    meter.createCounter(`adbind.receiver.${name}`, { description });
  const accepted = counter("accepted", "events accepted");
  const duplicate = counter("duplicate", "events whose key was claimed already");
  const stale = counter("stale", "events that came too late for their task");
  const refused = counter("refused", "requests refused, by code");
  const anomalies = counter("anomalies", "what no sender should do, by type");
  const handled = counter("handled", "handler runs, by outcome");
  const newKeyids = counter("new_keyids", "keyids this instance had not seen before");
  const lag = meter.createHistogram("adbind.receiver.lag", { description: "age of events on arrival", unit: "s" });
  const duration = (name: string, description: string) =>
    meter.createHistogram(`adbind.receiver.${name}`, {
      ...{ description, unit: "s" },
      advice: { explicitBucketBoundaries: DURATION_BUCKETS },
    });
  const requests = duration("request.duration", "time from a request to its answer, by status");
  const runs = duration("handler.duration", "time a handler and its effect took, by kind and outcome");
  const backlog = meter.createObservableGauge("adbind.receiver.backlog", { description: "events by state" });
  const oldest = meter.createObservableGauge("adbind.receiver.oldest", {
    description: "age of the oldest event that waits for its handler",
    unit: "s",
  });
  const reachable = meter.createObservableGauge("adbind.receiver.database.reachable", {
    description: "1 for each database of a split that answered when it was last asked, 0 for one that did not",
  });
  return {
    accepted: (kind, parked) => accepted.add(1, { kind, parked }),
    duplicate: () => duplicate.add(1),
    stale: (reason) => stale.add(1, { reason }),
    refused: (code) => refused.add(1, { code }),
    anomaly: (type) => anomalies.add(1, { type }),
    lag: (seconds) => lag.record(seconds),
    handled(outcome, kind, seconds) {
      handled.add(1, { outcome });
      runs.record(seconds, { kind, outcome });
    },
    answered: (status, seconds) => requests.record(seconds, { status }),
    newKeyid: () => newKeyids.add(1),
    backlog(read) {
      const gauges = [backlog, oldest];
      const observe: BatchObservableCallback = async (result) => {
        const { events, oldestSeconds } = await read();
        for (const [state, count] of Object.entries(events)) result.observe(backlog, count, { state });
        result.observe(oldest, oldestSeconds);
      };
      meter.addBatchObservableCallback(observe, gauges);
      return () => meter.removeBatchObservableCallback(observe, gauges);
    },
    databases(read) {
      const observe: BatchObservableCallback = (result) => {
        for (const { name, reachable: is } of read()) result.observe(reachable, Number(is), { database: name });
      };
      meter.addBatchObservableCallback(observe, [reachable]);
      return () => meter.removeBatchObservableCallback(observe, [reachable]);
    },
  };
}
