/** Traces, from a change of status through each attempt to its receiver; through OpenTelemetry's API, free without an SDK. */
import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AttemptReport } from "./attempt.js";

const hex = (value: number): string => value.toString(16).padStart(2, "0");

/** The `traceparent` of a context (W3C Trace Context); undefined where nothing is traced. */
function traceparentOf(of: Context): string | undefined {
  const span = trace.getSpanContext(of);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${hex(span.traceFlags)}`;
}

/** The same of the code that runs. */
export const activeTraceparent = (): string | undefined => traceparentOf(context.active());

function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, span);
}

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
    traceparent: traceparentOf(trace.setSpan(parent, span)),
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
