/** What OpenTelemetry sees of a receiver. */
import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { envelope, SELLER, send, setup } from "../support/receiver.js";

test("accepted, duplicate, stale, refused by code, lag, backlog, its age, durations, handler outcomes and new keyids are counted", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const s = await setup({ meter: provider.getMeter("test") });
  await s.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
  const body = envelope({ timestamp: "2026-04-18T13:59:50Z" });
  await send(s, body);
  await send(s, { ...body, message: "changed" });
  await send(s, envelope({ timestamp: "2026-04-18T13:00:00Z" }));
  await send(s, envelope({ status: "active" }));
  await send(s, envelope({ operation_id: "later", task_id: "t-2" }));
  await s.receiver.idle();
  await reader.forceFlush();
  const found = new Map<string, unknown>();
  for (const scope of exporter.getMetrics().at(-1)!.scopeMetrics) {
    for (const metric of scope.metrics) {
      for (const point of metric.dataPoints) {
        const labels = Object.values(point.attributes).join(" ");
        const greatest = typeof point.value === "number" ? point.value : (point.value as { max?: number }).max;
        const value = metric.descriptor.name.endsWith(".duration") ? greatest! > 0 : greatest;
        found.set(`${metric.descriptor.name.replace("adbind.receiver.", "")} ${labels}`.trim(), value);
      }
    }
  }
  const expected = {
    "accepted task false": 1,
    "accepted task true": 1,
    duplicate: 1,
    "stale not_newer": 1,
    "refused invalid_envelope_status": 1,
    "anomalies changed_body": 1,
    "handled completed": 1,
    new_keyids: 1,
    "backlog parked": 1,
    "backlog pending": 0,
    "backlog dead": 0,
    lag: 3600,
    oldest: 0,
    "handler.duration task completed": true,
    "request.duration 200": true,
    "request.duration 400": true,
  };
  assert.equal(Object.fromEntries([...found].sort()), Object.fromEntries(Object.entries(expected).sort()));
  await s.close();
  await provider.shutdown();
  metrics.disable();
});

test.run();
