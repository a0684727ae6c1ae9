/** Spans sent by OTLP, where the command line names a place for them. */
import type { Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { AdbindError } from "../../errors.js";

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what waits. */
  stop(): Promise<void>;
}

/**
 * @param endpoint base URL of a collector; spans go to its `/v1/traces`
 * @throws AdbindError `registry_option_invalid` for no URL
 */
export function startTracing(endpoint: string): Tracing {
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new AdbindError("registry_option_invalid", "the OTLP endpoint cannot be used", {
      where: endpoint,
      remedy: "give a URL such as http://localhost:4318",
    });
  }
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, "")}/v1/traces` });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  return { tracer: provider.getTracer("adbind.registry"), stop: () => provider.shutdown() };
}
