/** W3C Trace Context, as a request's header and a stored row carry it. */
import {
  type Context,
  context,
  INVALID_TRACEID,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from "@opentelemetry/api";

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Somebody else's span; the root where there is none, or none that holds. */
export function contextOf(traceparent: string | null | undefined): Context {
  const found = traceparent == null ? null : form.exec(traceparent);
  if (found === null) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "0"] = found;
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
}

/** The `traceparent` of a span; undefined outside of any trace. Without an SDK a span is its parent's: that trace goes on. */
export function traceparentOf(spanContext: SpanContext | undefined): string | undefined {
  // Without an SDK it is this one for each event; looking at its letters took a thirtieth of an attempt.
  if (spanContext === undefined || spanContext.traceId === INVALID_TRACEID) return undefined;
  if (!isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Where the code that runs stands in its trace. */
export const activeTraceparent = (): string | undefined => traceparentOf(trace.getSpanContext(context.active()));
