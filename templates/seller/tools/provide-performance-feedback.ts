import { takeFeedback } from "../domain/feedback/feedback.js";
import type { Handler } from "../handler.js";

/** What a buyer measured, for whoever optimises the buy. */
export const providePerformanceFeedback: Handler<"provide_performance_feedback"> = (request, call) =>
  call.answer(takeFeedback(call, request));
