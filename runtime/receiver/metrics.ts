/** What a receiver counts, through OpenTelemetry's API: nothing is exported unless the application sets up an SDK. */
import type { Meter } from "@opentelemetry/api";
import type { EventKind } from "../store/types.js";

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
  handled(outcome: "completed" | "retried" | "dead" | "lost"): void;
  newKeyid(): void;
  /** Asks `read` whenever metrics are collected. */
  backlog(read: () => Promise<Readonly<Record<string, number>>>): () => void;
}

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
  const backlog = meter.createObservableGauge("adbind.receiver.backlog", { description: "events by state" });
  return {
    accepted: (kind, parked) => accepted.add(1, { kind, parked }),
    duplicate: () => duplicate.add(1),
    stale: (reason) => stale.add(1, { reason }),
    refused: (code) => refused.add(1, { code }),
    anomaly: (type) => anomalies.add(1, { type }),
    lag: (seconds) => lag.record(seconds),
    handled: (outcome) => handled.add(1, { outcome }),
    newKeyid: () => newKeyids.add(1),
    backlog(read) {
      const observe: Parameters<typeof backlog.addCallback>[0] = async (result) => {
        for (const [state, count] of Object.entries(await read())) result.observe(count, { state });
      };
      backlog.addCallback(observe);
      return () => backlog.removeCallback(observe);
    },
  };
}
