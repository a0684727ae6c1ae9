/** Spans through OpenTelemetry's API: one for each call, a child of its caller's where the request says so. Free without an SDK. */
import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { FastifyInstance } from "fastify";
import { contextOf } from "../trace-context.js";
import type { Call, CallAnswer } from "../transport/answerer.js";

/** What an app does for a request stands in its caller's trace (W3C Trace Context). */
export function inCallersTrace(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { traceparent } = request.headers;
    context.with(contextOf(typeof traceparent === "string" ? traceparent : undefined), done);
  });
}

/** Runs a call within its span. */
export async function tracedCall(tracer: Tracer, call: Call, work: () => Promise<CallAnswer>): Promise<CallAnswer> {
  const parent = context.active();
  const attributes = { "adbind.tool": String(call.tool).slice(0, 64), "adbind.transport": call.transport };
  const span = tracer.startSpan("answer a call", { kind: SpanKind.SERVER, attributes }, parent);
  try {
    const called = await context.with(trace.setSpan(parent, span), work);
    span.setAttributes({ "adbind.status": called.status, "adbind.task_id": called.taskId });
    if (called.failed) span.setStatus({ code: SpanStatusCode.ERROR });
    return called;
  } finally {
    span.end();
  }
}
