/**
 * Spans through OpenTelemetry's API: one for each request and one for each run of a handler. The run's is a child of its
 * request's, whenever and wherever it runs: the event is kept with its place in the trace. Both name its idempotency key.
 */
import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { HeaderFields } from "../signing/types.js";
import type { InboxEvent, NewEvent } from "../store/types.js";
import { contextOf, traceparentOf } from "../trace-context.js";
import { fieldOf } from "./fields.js";

/** How a run of a handler ended; `left`: to its lease, or to a later turn since the store failed. */
export type RunOutcome = "completed" | "retried" | "dead" | "lost" | "left";

export interface RequestSpan {
  /** Where it stands in its trace (W3C Trace Context), for the event it brings; null outside of any. */
  readonly traceparent: string | null;
  /** The request was believed, and brings this. */
  brings(event: NewEvent): void;
  /** @param code why it was refused */
  end(status: number, code?: string): void;
}

export interface RunSpan {
  /** Runs work within it: what that traces is its child, where the application has a context manager. */
  readonly within: <T>(work: () => T) => T;
  end(outcome: RunOutcome, error?: unknown): void;
}

export interface ReceiverTraces {
  request(headers: HeaderFields): RequestSpan;
  run(event: InboxEvent): RunSpan;
}

const aboutEvent = ({ sender, kind, key, taskId, status }: NewEvent) => ({
  "adbind.sender": sender,
  "adbind.kind": kind,
  "adbind.idempotency_key": key,
  ...(taskId !== null && { "adbind.task_id": taskId }),
  ...(status !== null && { "adbind.status": status }),
});

/** Names are few and say nothing of a route or a task: those are attributes. */
export const receiverTraces = (tracer: Tracer): ReceiverTraces => ({
  request(headers) {
    const span = tracer.startSpan(
      "receive webhook",
      { kind: SpanKind.SERVER },
      contextOf(fieldOf(headers, "traceparent")),
    );
    return {
      traceparent: traceparentOf(span.spanContext()) ?? null,
      brings: (event) => {
        if (span.isRecording()) span.setAttributes(aboutEvent(event));
      },
      end(status, code) {
        span.setAttribute("http.response.status_code", status);
        if (code !== undefined) span.setAttribute("adbind.refused", code);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  },
  run(event) {
    const parent = contextOf(event.traceparent);
    const span = tracer.startSpan("handle webhook", { kind: SpanKind.CONSUMER }, parent);
    if (span.isRecording()) span.setAttributes({ ...aboutEvent(event), "adbind.attempt": event.attempts + 1 });
    return {
      within: (work) => (span.isRecording() ? context.with(trace.setSpan(parent, span), work) : work()),
      end(outcome, error) {
        span.setAttribute("adbind.outcome", outcome);
        if (error !== undefined) {
          // Its text may quote what the handler worked with, and traces go elsewhere.
          const message = error instanceof Error ? error.name : typeof error;
          span.setStatus({ code: SpanStatusCode.ERROR, message });
        }
        span.end();
      },
    };
  },
});
