/** What a seller counts, through OpenTelemetry's API: free where no SDK is registered. Callers are not labels: they are too many. */
import { type Meter, metrics } from "@opentelemetry/api";

export interface SellerMetrics {
  /** @param code of the error, on failures @param ms from the call's arrival to its answer */
  answered(
    call: { tool: string; transport: string; status: string; code: string | undefined; replayed: boolean },
    ms: number,
  ): void;
}

/** Instruments are named `adbind.seller.*`. */
export function sellerMetrics(meter: Meter = metrics.getMeter("adbind")): SellerMetrics {
  const calls = meter.createCounter("adbind.seller.calls", { description: "Calls by tool, transport and status" });
  const failures = meter.createCounter("adbind.seller.failures", { description: "Failed calls by tool and code" });
  const replays = meter.createCounter("adbind.seller.replays", { description: "Answers given again" });
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
  };
}
