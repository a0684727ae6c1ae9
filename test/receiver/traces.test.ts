/** Spans of requests and of handlers' runs: one trace for an event, whenever and wherever its handler runs. */
import { SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { ReceivedEvent } from "../../runtime/receiver/index.js";
import { envelope, SELLER, type SetupOptions, send, setup } from "../support/receiver.js";
import { until } from "../support/until.js";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer("test");

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };

async function opened(options: SetupOptions = {}) {
  exporter.reset();
  const s = await setup({ tracer, ...options });
  await s.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
  return s;
}

const spans = (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);

test("a request's span is its sender's child, and the run's is the request's; both name the event's key", async () => {
  const s = await opened();
  const body = envelope();
  await send(s, body, { headers });
  await s.receiver.idle();
  const [request] = spans("receive webhook");
  const [run] = spans("handle webhook");
  assert.equal([request!.spanContext().traceId, request!.parentSpanContext?.spanId], [TRACE, PARENT]);
  assert.equal([run!.spanContext().traceId, run!.parentSpanContext?.spanId], [TRACE, request!.spanContext().spanId]);
  for (const span of [request, run]) {
    assert.is(span!.attributes["adbind.idempotency_key"], body.idempotency_key);
    assert.is(span!.attributes["adbind.sender"], SELLER);
  }
  assert.is(request!.attributes["http.response.status_code"], 200);
  assert.equal([run!.attributes["adbind.attempt"], run!.attributes["adbind.outcome"]], [1, "completed"]);
  assert.is(s.seen[0]!.traceparent, `00-${TRACE}-${request!.spanContext().spanId}-01`);
  await s.close();
});

test("a handler that failed is an error without its text, and its next run stands in the same trace", async () => {
  let calls = 0;
  const fallback = (_delivery: ReceivedEvent) => {
    calls += 1;
    if (calls === 1) throw new RangeError("a secret");
  };
  const s = await opened({ handlers: { fallback }, backoffMs: 0, pollMs: 5 });
  await send(s, envelope(), { headers });
  await until(() => spans("handle webhook").length === 2);
  const [first, second] = spans("handle webhook");
  assert.equal([first!.attributes["adbind.outcome"], first!.status.code], ["retried", SpanStatusCode.ERROR]);
  assert.is(first!.status.message, "RangeError");
  assert.equal([second!.attributes["adbind.attempt"], second!.attributes["adbind.outcome"]], [2, "completed"]);
  assert.is(second!.spanContext().traceId, TRACE, "kept with the event, not in memory");
  await s.close();
});

test("a refusal's span has its code; a traceparent that is none is no parent", async () => {
  const s = await opened();
  for (const traceparent of ["00-zz", `00-${"0".repeat(32)}-${PARENT}-01`]) {
    exporter.reset();
    await send(s, envelope({ status: "active" }), { headers: { traceparent } });
    const [span] = spans("receive webhook");
    assert.is(span!.attributes["adbind.refused"], "invalid_envelope_status");
    assert.is(span!.parentSpanContext, undefined);
  }
  await s.close();
});

test("without an SDK the sender's trace goes on to the handler all the same", async () => {
  const s = await opened({ tracer: trace.getTracer("none") });
  await send(s, envelope(), { headers });
  await send(s, envelope({ task_id: "t-2" }));
  await s.receiver.idle();
  assert.equal(
    s.seen.map(({ traceparent }) => traceparent),
    [headers.traceparent, null],
  );
  await s.close();
});

test.run();
