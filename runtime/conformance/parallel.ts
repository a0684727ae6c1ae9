/** One request sent several times at once. */
import type { JsonObject } from "../contract/index.js";
import { errorCodeOf } from "./agent/outcome.js";
import type { AgentAnswer, AgentSession } from "./agent/types.js";
import { fieldAt } from "./paths.js";
import type { RunState } from "./state.js";

/** Answers at once that a step may ask for. */
const COUNTS = { least: 2, most: 10 } as const;
/** Times that a call which is still being answered is asked again. */
const MAX_RETRIES = 20;
const MAX_WAIT_MS = 5_000;

export interface ParallelCall {
  readonly task: string;
  readonly args: JsonObject;
  readonly session: AgentSession;
  readonly run: RunState;
}

const retryAfterMs = (answer: AgentAnswer, word: string): number => {
  const seconds =
    fieldAt(answer.payload, `${word}_error.retry_after`) ?? fieldAt(answer.payload, "errors[0].retry_after");
  return typeof seconds === "number" ? Math.min(seconds * 1000, MAX_WAIT_MS) : 250;
};

/** An answer that says another is being made: asked again under the same key until that one is there. */
async function resolved({ task, args, session, run }: ParallelCall): Promise<AgentAnswer> {
  const answered = { word: run.release.word, tool: undefined };
  let answer = await session.call(task, args);
  for (let tries = 0; tries < MAX_RETRIES; tries++) {
    if (errorCodeOf(answer, answered)?.code !== "IDEMPOTENCY_IN_FLIGHT") break;
    await run.sleep(retryAfterMs(answer, run.release.word));
    answer = await session.call(task, args);
  }
  return answer;
}

/** @param how `parallel_dispatch` of the step */
export async function dispatchParallel(how: JsonObject, call: ParallelCall): Promise<AgentAnswer[]> {
  const asked = typeof how.count === "number" ? how.count : COUNTS.least;
  const count = Math.min(COUNTS.most, Math.max(COUNTS.least, asked));
  const same = how.same_idempotency_key !== false;
  return Promise.all(
    Array.from({ length: count }, () =>
      resolved(same ? call : { ...call, args: { ...call.args, idempotency_key: call.run.uuid() } }),
    ),
  );
}
