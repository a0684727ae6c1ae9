/**
 * Spans through OpenTelemetry's API: one for each call, under whatever was active when it was made. Its requests, and those by
 * which its task is followed, carry it; free without an SDK. Loaded with the first call.
 */
import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { type AnyArms, type Failure, isFailing } from "../contract/index.js";
import type { CallResult } from "./types.js";

export interface TracedCall {
  readonly tool: string;
  /** The agent's. */
  readonly url: string;
}

/** Runs a call within its span. What is done with its answer later stands in the same trace. */
export async function inCallSpan(
  tracer: Tracer | undefined,
  { tool, url }: TracedCall,
  work: () => Promise<CallResult<AnyArms>>,
): Promise<CallResult<AnyArms>> {
  const parent = context.active();
  const attributes = { "adbind.tool": tool.slice(0, 64), "server.address": new URL(url).host };
  const span = (tracer ?? trace.getTracer("adbind.buyer")).startSpan(
    "call an agent",
    { kind: SpanKind.CLIENT, attributes },
    parent,
  );
  const within = trace.setSpan(parent, span);
  try {
    const called = await context.with(within, work);
    const { answer, attempts, release } = called;
    span.setAttributes({ "adbind.status": answer.status, "adbind.attempts": attempts, "adbind.release": release });
    if (answer.taskId !== undefined) span.setAttribute("adbind.task_id", answer.taskId);
    if (isFailing(answer.status)) {
      const [error] = (answer.data as Failure).errors;
      // A code alone: messages may quote what a request holds.
      span.setStatus({ code: SpanStatusCode.ERROR, ...(error !== undefined && { message: error.code }) });
    }
    return {
      ...called,
      waitForCompletion: (options) => context.with(within, () => called.waitForCompletion(options)),
      respond: (input, options) => context.with(within, () => called.respond(input, options)),
    };
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
