/** An agent that could not be asked anything. */

import { AdbindError } from "../errors.js";
import { faultWords } from "./agent/failed-answer.js";
import { oneLine } from "./step-words.js";

/** Characters told of what went wrong: it may quote all that an agent answered. */
const MAX_DETAIL = 300;

/** @returns AdbindError `agent_unreachable`, in one line and without control characters: a stranger may have written them */
export function agentUnreachable(transport: string, url: string, error: unknown): AdbindError {
  const whole = oneLine(faultWords(error)).replace(/\p{Cc}/gu, "?");
  const detail = whole.length > MAX_DETAIL ? `${whole.slice(0, MAX_DETAIL)}...` : whole;
  return new AdbindError("agent_unreachable", `the agent cannot be asked over ${transport}: ${detail}`, {
    where: url,
    remedy: "check the URL, its transport and credentials",
  });
}
