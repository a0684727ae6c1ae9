/** An agent that says it is called too often is called again when it says, under the same key. */
import type { JsonObject } from "../../contract/index.js";
import type { AgentAnswer, AgentSession } from "./types.js";

/** Times that one call is made again. */
const MAX_RETRIES = 10;
/** Longest wait for one of them, in milliseconds. */
const MAX_WAIT_MS = 15_000;

const TOO_MANY = 429;

export async function callPatiently(
  session: AgentSession,
  sleep: (ms: number) => Promise<void>,
  task: string,
  args: JsonObject,
): Promise<AgentAnswer> {
  let answer = await session.call(task, args);
  for (let tries = 0; tries < MAX_RETRIES && answer.status === TOO_MANY; tries++) {
    const seconds = Number(answer.headers["retry-after"] ?? 1);
    await sleep(Math.min(Number.isFinite(seconds) ? seconds * 1_000 : 1_000, MAX_WAIT_MS));
    answer = await session.call(task, args);
  }
  return answer;
}
