/** What a seller counts, as Prometheus reads it at /metrics. Where the application counts with a meter of its own, there is none. */
import { timingSafeEqual } from "node:crypto";
import type { Meter } from "@opentelemetry/api";
import type { MetricReader } from "@opentelemetry/sdk-metrics";
import { loadPeer } from "../peer.js";
import type { Seller } from "../seller/create.js";

export interface MetricsOptions {
  /** Bearer token that /metrics wants. Without one it is served in development only. */
  readonly token?: string;
}

export interface Metrics {
  readonly meter: Meter;
  /** Prometheus text format. */
  read(): Promise<string>;
  stop(): Promise<void>;
}

const WANTED = ["@opentelemetry/exporter-prometheus", "@opentelemetry/sdk-metrics"];

/** Its packages are loaded where they are wanted: a seller that counts elsewhere does without. */
export async function openMetrics(): Promise<Metrics> {
  const [{ PrometheusExporter, PrometheusSerializer }, { MeterProvider }] = await loadPeer(WANTED, "/metrics", () =>
    Promise.all([import("@opentelemetry/exporter-prometheus"), import("@opentelemetry/sdk-metrics")]),
  );
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [reader as unknown as MetricReader] });
  const meter = provider.getMeter("adbind");
  meter
    .createObservableGauge("adbind.memory_bytes", { description: "Resident memory of the process", unit: "By" })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return {
    meter,
    read: async () => serializer.serialize((await reader.collect()).resourceMetrics),
    stop: () => provider.shutdown(),
  };
}

const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
};

export function metricsRoute(app: Seller["app"], metrics: Metrics, { token }: MetricsOptions): void {
  app.get("/metrics", async (request, reply) => {
    if (token !== undefined && !isSame(request.headers.authorization ?? "", `Bearer ${token}`))
      return reply.code(401).header("www-authenticate", "Bearer").send({ error: "unauthenticated" });
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await metrics.read());
  });
}
