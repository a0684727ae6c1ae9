/** What a registry counts and traces. Counters are served at /metrics; spans go to the tracer one hands in. */
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, type MetricReader } from "@opentelemetry/sdk-metrics";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { PartFault } from "../types.js";

export interface Telemetry {
  /** For parts that count on their own, such as the crawler. */
  readonly meter: ReturnType<MeterProvider["getMeter"]>;
  request(labels: { route: string; method: string; status: number }, seconds: number): void;
  limited(bucket: string): void;
  authentication(outcome: string): void;
  crawlStarted(): void;
  /** A part of the search's index did not answer. */
  partMissing(part: string, why: PartFault): void;
  /** Prometheus text format. */
  read(): Promise<string>;
  stop(): Promise<void>;
}

/** Seconds. The figures a lookup is judged by lie between 5 and 20 ms. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createTelemetry(): Telemetry {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [reader as unknown as MetricReader] });
  const meter = provider.getMeter("adbind.registry");
  const requests = meter.createCounter("registry.requests", { description: "requests answered" });
  const duration = meter.createHistogram("registry.request.duration_seconds", {
    description: "time from the request's headers to the end of the answer",
    unit: "s",
    advice: { explicitBucketBoundaries: DURATION_BUCKETS },
  });
  const limited = meter.createCounter("registry.limited", { description: "requests refused by a limit, by its name" });
  const authentications = meter.createCounter("registry.authentications", {
    description: "credentials sent, by outcome",
  });
  const crawls = meter.createCounter("registry.auto_crawls", { description: "crawls that lookups started" });
  const missing = meter.createCounter("registry.search_parts_missing", {
    description: "questions that a part of the search index did not answer, by part and reason",
  });
  meter
    .createObservableGauge("registry.memory_bytes", { description: "resident memory of the process", unit: "By" })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return {
    meter,
    request(labels, seconds) {
      requests.add(1, labels);
      duration.record(seconds, { route: labels.route });
    },
    limited: (bucket) => limited.add(1, { bucket }),
    authentication: (outcome) => authentications.add(1, { outcome }),
    crawlStarted: () => crawls.add(1),
    partMissing: (part, why) => missing.add(1, { part, why }),
    async read() {
      const { resourceMetrics } = await reader.collect();
      return serializer.serialize(resourceMetrics);
    },
    stop: () => provider.shutdown(),
  };
}

const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The caller's span, where it sent one (W3C Trace Context). */
function parentOf(header: unknown): Context {
  const found = typeof header === "string" ? traceparent.exec(header) : null;
  if (found === null || /^0+$/.test(found[1]!) || /^0+$/.test(found[2]!)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: found[1]!,
    spanId: found[2]!,
    traceFlags: Number.parseInt(found[3]!, 16),
    isRemote: true,
  });
}

/** The path as the route has it: labels and span names stay few, whatever is asked for. */
export const routeName = (request: FastifyRequest): string => request.routeOptions.url ?? "none";

const spans = new WeakMap<FastifyRequest, Span>();

/** Counts and traces every request of an app. */
export function observeRequests(app: FastifyInstance, telemetry: Telemetry, tracer: Tracer): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const span = tracer.startSpan(
      `${request.method} ${routeName(request)}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          "http.request.method": request.method,
          "http.route": routeName(request),
          "url.path": request.url.split("?")[0]!,
          "request.id": request.id,
        },
      },
      parentOf(request.headers.traceparent),
    );
    spans.set(request, span);
    context.with(trace.setSpan(ROOT_CONTEXT, span), done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const labels = { route: routeName(request), method: request.method, status: reply.statusCode };
    telemetry.request(labels, reply.elapsedTime / 1000);
    const span = spans.get(request);
    span?.setAttribute("http.response.status_code", reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}
