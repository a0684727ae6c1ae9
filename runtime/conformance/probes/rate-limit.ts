/** `expect_rate_limit_not_replayed`: a request that was refused for its rate is a new one when it comes again. */
import { isJsonObject, type JsonObject, wireNames } from "../../contract/index.js";
import { errorCodeOf } from "../agent/outcome.js";
import type { AgentAnswer } from "../agent/types.js";
import type { OwnTask } from "../own-task.js";
import { fieldAt } from "../paths.js";
import { substituteIn } from "../request.js";
import type { StoryState } from "../state.js";

/** test-kits/rate-limit-trip-runner.yaml: requests of a burst, and seconds waited at most. */
const ATTEMPTS = { least: 50, most: 500, usual: 200 } as const;
const WAIT_SECONDS = 30;

const LIMITED = "RATE_LIMITED";

const codeOf = (answer: AgentAnswer, story: StoryState): string | undefined =>
  errorCodeOf(answer, { word: story.run.release.word, tool: undefined })?.code;

const waitAsked = ({ payload, headers }: AgentAnswer, word: string): number | undefined => {
  const places = [`${wireNames(word).error}.retry_after`, "errors[0].retry_after", "error.retry_after", "retry_after"];
  const found = places.map((path) => fieldAt(payload, path)).find((one) => typeof one === "number");
  const header = Number(headers["retry-after"]);
  return typeof found === "number" ? found : header > 0 ? header : undefined;
};

/** What the step's checks look at. */
const combined = (trip: AgentAnswer, replay: AgentAnswer, key: string): JsonObject => ({
  trip_response: trip.payload,
  replay_response: replay.payload,
  rate_limited_request: { idempotency_key: key },
});

export const rateLimitNotReplayed: OwnTask = async (step, _phase, story) => {
  const how = isJsonObject(step.rate_limit_trip) ? step.rate_limit_trip : {};
  const task = String(how.trip_target_task);
  const { run } = story;
  const session = story.sessionOf(run.primary);
  if (run.primary.tools.size > 0 && !run.primary.tools.has(task))
    return { skip: { reason: "not_applicable", detail: `the agent would have to offer ${task}, whose rate is tried` } };
  const { value, unresolved } = substituteIn(story, run.primary.url, how.trip_target_sample_request ?? {});
  if (unresolved.length > 0) return { problem: `unresolved_substitution: no step has given ${unresolved.join(", ")}` };
  const request = value as JsonObject;
  const asked = typeof how.max_attempts === "number" ? how.max_attempts : ATTEMPTS.usual;
  const attempts = Math.min(ATTEMPTS.most, Math.max(ATTEMPTS.least, asked));
  const trip = await burst(task, request, { attempts, story });
  if (trip === undefined) return { skip: { reason: "not_applicable", detail: "rate_limit_not_triggered" } };
  const seconds = waitAsked(trip.answer, run.release.word);
  if (seconds === undefined || seconds <= 0)
    return { answer: trip.answer, problem: "missing_retry_after: the refusal does not say when to come again" };
  const most = typeof how.replay_max_wait_seconds === "number" ? how.replay_max_wait_seconds : WAIT_SECONDS;
  if (seconds > most)
    return {
      answer: trip.answer,
      problem: `replay_wait_exceeded: retry_after is ${seconds} s, and ${most} s are waited`,
    };
  await run.sleep(seconds * 1000);
  const context = { ...(isJsonObject(request.context) ? request.context : {}), correlation_id: `replay-${trip.key}` };
  const replay = await session.call(task, { ...request, context, idempotency_key: trip.key });
  return { answer: { ...replay, payload: combined(trip.answer, replay, trip.key), failed: false } };
};

async function burst(
  task: string,
  request: JsonObject,
  { attempts, story }: { attempts: number; story: StoryState },
): Promise<{ answer: AgentAnswer; key: string } | undefined> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const key = story.run.uuid();
    const answer = await story.sessionOf(story.run.primary).call(task, { ...request, idempotency_key: key });
    if (codeOf(answer, story) === LIMITED || answer.status === 429) return { answer, key };
  }
  return undefined;
}
