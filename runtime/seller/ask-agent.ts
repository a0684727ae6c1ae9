/** One question to another agent: whoever named it is not trusted, so that it is asked through the guarded fetch, once, and not for long. */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import { answerEvent } from "../net/answer-event.js";
import { createGuardedFetch, type GuardedFetch, type NetPolicyOptions } from "../net/index.js";
import type { WireUse } from "../transport/caller.js";
import { openConnection } from "../transport/callers.js";
import { WireFault } from "../transport/fault.js";

/** Bytes of an answer: more than any decision needs. */
const MAX_ANSWER_BYTES = 1_048_576;

export interface ToolQuestion {
  readonly url: string;
  /** The protocol's. */
  readonly word: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Sent to the agent's own host and no other. */
  readonly bearer?: string | undefined;
  /** For the whole of it, in milliseconds. */
  readonly timeoutMs: number;
}

/** @throws WireFault, or an SDK's error, where the agent gives no answer that can be read */
export type AskAgent = (question: ToolQuestion) => Promise<JsonObject>;

/** Fields of SDKs that belong to the connection. */
const dropped = new Set(["host", "connection", "content-length", "accept-encoding"]);

async function sent(
  guarded: GuardedFetch,
  { url: agent, bearer }: ToolQuestion,
  [input, init]: Parameters<typeof globalThis.fetch>,
  use: WireUse,
): Promise<Response> {
  const url = String(input instanceof Request ? input.url : input);
  const method = (init?.method ?? "GET").toUpperCase();
  const given = [...new Headers(init?.headers)].filter(([name]) => !dropped.has(name));
  const headers: Record<string, string> = Object.fromEntries(given);
  // A stream of the agent's own messages is no answer to this question.
  if (method === "GET" && headers.accept === "text/event-stream") return new Response(null, { status: 405 });
  if (bearer !== undefined && new URL(url).origin === new URL(agent).origin) headers.authorization = `Bearer ${bearer}`;
  const text = typeof init?.body === "string" ? init.body : undefined;
  const edited = text === undefined || use.edit === undefined ? text : JSON.stringify(use.edit(JSON.parse(text)));
  const signal = use.signal ?? init?.signal ?? undefined;
  const result = await guarded(url, {
    ...{ method, headers, maxBytes: MAX_ANSWER_BYTES },
    ...(edited !== undefined && { body: edited, enough: answerEvent(edited) }),
    ...(signal !== undefined && { signal }),
  });
  if (!result.ok) throw new WireFault(`No answer from the agent: ${result.code}`, { retryable: result.retryable });
  const answer = new TextDecoder().decode(result.body);
  if (result.status >= 300)
    throw new WireFault(`The agent answered HTTP ${result.status}`, { status: result.status, body: answer });
  use.seen?.(JSON.parse(answer));
  const { "content-length": _, ...kept } = result.headers;
  const empty = result.status === 202 || result.status === 204;
  return new Response(empty ? null : answer, { status: result.status, headers: kept });
}

/**
 * Makes what asks. Nothing is open between questions.
 * @param net `allowHttp` and `allowLoopback` for agents on this machine, in development
 */
export function createAskAgent(net: NetPolicyOptions): AskAgent {
  return async (question) => {
    const { url, word, tool, args, timeoutMs } = question;
    const guarded = createGuardedFetch(net);
    const signal = AbortSignal.timeout(timeoutMs);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(new WireFault("The agent took too long", { retryable: true })));
    });
    const asked = async (): Promise<JsonObject> => {
      const fetchFor = (use: WireUse): typeof globalThis.fetch => {
        return (...given) => sent(guarded, question, given, use);
      };
      const connection = await openConnection("auto", { url, word, timeoutMs, uuid: randomUUID, fetchFor }, signal);
      try {
        const answer = await connection.call({ tool, args, push: undefined, contextId: undefined, signal });
        if (answer.state === "failed" || answer.error !== null || answer.payload === null)
          throw new WireFault(`The agent refused: ${answer.error?.message ?? answer.text ?? "it gave no data"}`, {});
        return answer.payload;
      } finally {
        await connection.close();
      }
    };
    try {
      return await Promise.race([asked(), late]);
    } finally {
      await guarded.close();
    }
  };
}
