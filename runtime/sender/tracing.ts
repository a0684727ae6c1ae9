/** Traces, from a change of status through each attempt to its receiver; through OpenTelemetry's API, free without an SDK. */
import { type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { contextOf, traceparentOf } from "../trace-context.js";
import type { AttemptReport } from "./attempt.js";

export interface TracedAttempt {
  /** For the request's header. */
  readonly traceparent: string | undefined;
  end(report: AttemptReport | undefined): void;
}

export interface AttemptAttributes {
  readonly type: string;
  readonly attempt: number;
  /** Host only: the rest of a URL may be a secret. */
  readonly host: string;
}

/** @param traceparent of what made the event */
export function tracedAttempt(
  tracer: Tracer,
  traceparent: string | undefined,
  { type, attempt, host }: AttemptAttributes,
): TracedAttempt {
  const parent = contextOf(traceparent);
  const attributes = { "adbind.notification_type": type, "adbind.attempt": attempt, "server.address": host };
  const span = tracer.startSpan("adbind.webhook.attempt", { kind: SpanKind.CLIENT, attributes }, parent);
  return {
    traceparent: traceparentOf(span.spanContext()),
    end: (report) => endOf(span, report),
  };
}

function endOf(span: Span, report: AttemptReport | undefined): void {
  if (report === undefined) span.setAttribute("adbind.outcome", "lease ended");
  else {
    span.setAttribute("adbind.outcome", report.status);
    if (report.httpStatus !== null) span.setAttribute("http.response.status_code", report.httpStatus);
    if (report.error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: report.error });
  }
  span.end();
}
