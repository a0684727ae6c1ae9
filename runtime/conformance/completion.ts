/** The end of a task that an answer began, where a step takes something from it. */
import { interimStatuses, isJsonObject, type JsonObject } from "../contract/index.js";
import type { AgentAnswer } from "./agent/types.js";
import { COMPLETION } from "./captures.js";
import type { StoryboardStep } from "./document.js";
import type { KnownAgent, StoryState } from "./state.js";

/** How often a task is asked for, and how long at most, in milliseconds. */
const POLL_MS = 1_500;
const LIMIT_MS = 30_000;

const unfinished: ReadonlySet<string> = new Set(interimStatuses);

/** Waits for the end of a task. @returns its result; undefined where nothing is taken from it, or it does not end */
export async function completionOf(
  step: StoryboardStep,
  answer: AgentAnswer,
  agent: KnownAgent,
  story: StoryState,
): Promise<JsonObject | undefined> {
  const wanted = (step.context_outputs ?? []).some(({ path }) => path?.startsWith(COMPLETION));
  const id = answer.payload?.task_id;
  if (!wanted || typeof id !== "string" || !unfinished.has(String(answer.payload?.status))) return undefined;
  const { release, now, sleep } = story.run;
  const names = [release.facts.tools.task?.value, "get_task_status", "tasks_get"];
  const tool = names.find((name) => name !== undefined && agent.tools.has(name));
  const end = now() + LIMIT_MS;
  const session = story.sessionOf(agent);
  while (tool !== undefined && now() < end) {
    const { payload } = await session.call(tool, { task_id: id, include_result: true });
    if (isJsonObject(payload?.result) && !unfinished.has(String(payload.status))) return payload.result;
    if (payload?.status === "completed") return payload;
    await sleep(POLL_MS);
  }
  return undefined;
}
