/** An agent that could not be asked anything. */

import { AdbindError } from "../errors.js";
import { printable } from "../printable.js";
import { faultWords } from "./agent/failed-answer.js";
import { oneLine } from "./step-words.js";

/** Characters told of what went wrong: it may quote all that an agent answered. */
const MAX_DETAIL = 300;

const isUntrusted = (detail: string): boolean => /\bcertificate\b/i.test(detail);

/**
 * @param transport undefined where it had not come to one
 * @param remedy what to do about it
 * @returns AdbindError `agent_unreachable`, in one line and with nothing in it that drives a terminal: a stranger may have written them
 */
export function agentUnreachable(
  transport: string | undefined,
  url: string,
  error: unknown,
  remedy = "check the URL, its transport and credentials",
): AdbindError {
  const whole = printable(oneLine(faultWords(error)));
  const detail = whole.length > MAX_DETAIL ? `${whole.slice(0, MAX_DETAIL)}...` : whole;
  const over = transport === undefined ? "" : ` over ${transport}`;
  return new AdbindError("agent_unreachable", `the agent cannot be asked${over}: ${detail}`, {
    where: url,
    remedy: isUntrusted(detail) ? "if that certificate is the agent's, give it as one to trust (--ca)" : remedy,
  });
}
