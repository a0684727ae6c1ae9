/** Counters through OpenTelemetry's API: free where no SDK is registered. Destinations are not labels: they are too many. */
import { type Meter, metrics } from "@opentelemetry/api";
import type { Job } from "../queue/types.js";
import type { AttemptReport } from "./attempt.js";

export interface SenderMetrics {
  attempted(job: Job, report: AttemptReport): void;
  /** @param count things that an operator should see to */
  alarmed(count: number): void;
}

export function senderMetrics(meter: Meter = metrics.getMeter("adbind")): SenderMetrics {
  const attempts = meter.createCounter("adbind.sender.attempts", { description: "Webhook attempts by status" });
  const dead = meter.createCounter("adbind.sender.dead_letters", { description: "Events given up" });
  const lag = meter.createHistogram("adbind.sender.first_attempt", {
    description: "From an event's making to its first attempt",
    unit: "ms",
  });
  const alarms = meter.createGauge("adbind.sender.alarms", { description: "What an operator should see to" });
  return {
    alarmed: (count) => alarms.record(count),
    attempted(job, { status, handled }) {
      attempts.add(1, { status });
      if (handled.outcome.kind === "dead") dead.add(1);
      if (job.attempts === 0) lag.record(Math.max(0, job.startedAt - job.createdAt));
    },
  };
}
