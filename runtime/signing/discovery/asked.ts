/** One question to an agent, whatever it is spoken to in. */
import { parseStrict } from "../../json.js";
import { answerEvent } from "../../net/answer-event.js";
import { discoveryTimeouts, type Fetcher } from "../../net/index.js";

/** 64 KiB, as for a key set. */
export const MAX_CAPABILITIES_BYTES = 64 * 1024;

export interface AgentQuestion {
  readonly fetch: Fetcher;
  /** Where the agent is called. */
  readonly url: string;
  /** Name of the tool that tells its capabilities. */
  readonly tool: string;
}

/** The agent was there, and does not speak this. */
export class NotThisWay extends Error {}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export const rpcRequest = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

/** @throws Error where there is no answer */
export async function postJson(
  fetch: Fetcher,
  url: string,
  message: object,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const { readMs, totalMs } = discoveryTimeouts;
  const body = JSON.stringify(message);
  const result = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    maxBytes: MAX_CAPABILITIES_BYTES,
    timeouts: { readMs, totalMs },
    enough: answerEvent(body),
  });
  if (!result.ok) throw new Error(result.detail);
  return result;
}

/** The JSON of an answer: its body, or the data of its last event; undefined where it is none. */
export function messageIn({ headers, body }: Answered): unknown {
  let bytes = body;
  if (/^text\/event-stream/i.test(headers["content-type"] ?? "")) {
    const events = new TextDecoder().decode(body).split(/\r?\n\r?\n/);
    const last = events.findLast((event) => /^data:/m.test(event)) ?? "";
    const data = last.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
    bytes = new TextEncoder().encode(data.join("\n"));
  }
  const parsed = parseStrict(bytes);
  return parsed.ok ? parsed.value : undefined;
}
