/** What a seller counts, through OpenTelemetry's API: free where no SDK is registered. Callers are not labels: they are too many. */
import { type Meter, metrics } from "@opentelemetry/api";

export interface SellerMetrics {
  /** @param code of the error, on failures @param ms from the call's arrival to its answer */
  answered(
    call: { tool: string; transport: string; status: string; code: string | undefined; replayed: boolean },
    ms: number,
  ): void;
  /** @param left pointers to what answers in an older release had no place for, each with how often */
  leftOut(of: { tool: string; release: string }, left: Readonly<Record<string, number>>): void;
}

/** Instruments are named `adbind.seller.*`. */
export function sellerMetrics(meter: Meter = metrics.getMeter("adbind")): SellerMetrics {
  const calls = meter.createCounter("adbind.seller.calls", { description: "Calls by tool, transport and status" });
  const failures = meter.createCounter("adbind.seller.failures", { description: "Failed calls by tool and code" });
  const replays = meter.createCounter("adbind.seller.replays", { description: "Answers given again" });
  // What it was is in the log: pointers may hold a caller's words, and would be labels without end.
  const lost = meter.createCounter("adbind.seller.left_out", {
    description: "Parts of answers that their caller's release has no place for",
  });
  const duration = meter.createHistogram("adbind.seller.duration", {
    description: "Calls, arrival to answer",
    unit: "ms",
  });
  return {
    answered({ tool, transport, status, code, replayed }, ms) {
      calls.add(1, { tool, transport, status });
      if (code !== undefined) failures.add(1, { tool, code });
      if (replayed) replays.add(1, { tool });
      duration.record(ms, { tool });
    },
    leftOut({ tool, release }, left) {
      for (const count of Object.values(left)) lost.add(count, { tool, release });
    },
  };
}
