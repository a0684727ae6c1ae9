/** Calls over A2A, by the official SDK: 1.0, and 0.3 where an agent has only that. */
import type { AgentCard, SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { isJsonObject } from "../../contract/index.js";
import { timerMs } from "../../timers.js";
import { cardPlaces } from "../../transport/a2a/card-places.js";
import { withinBytes, withinLevels } from "./answer-limits.js";
import { failedAnswer } from "./failed-answer.js";
import { headersOf } from "./http.js";
import { payloadOfA2a } from "./payload.js";
import type { AgentSession, SentRequest, SessionOptions } from "./types.js";

/** `ROLE_USER` of the SDK's enum. */
const ROLE_USER = 1;

interface Heard {
  status?: number;
  headers: Record<string, string>;
  message?: unknown;
}

/** @throws where what is there is no card */
async function cardOf(resolver: DefaultAgentCardResolver, at: string): Promise<AgentCard> {
  const none = (): Error => new Error(`what ${at} answers is no agent card: it lists no skills`);
  const card = await resolver.resolve(at, "").catch((error: unknown) => {
    // An SDK that looks into what is not there says so of its own code.
    throw error instanceof TypeError && error.cause === undefined ? none() : error;
  });
  if (!Array.isArray(card?.skills)) throw none();
  return card;
}

/** Opens what an agent's card describes. @throws where there is no card */
export async function openA2aSession(options: SessionOptions): Promise<AgentSession> {
  const { url, uuid, now, timeoutMs } = options;
  const legacyCompat = { enabled: true };
  const fetchFor =
    (heard: Heard): typeof globalThis.fetch =>
    async (input, init) => {
      const headers = new Headers(init?.headers);
      if (options.authorization !== undefined) headers.set("authorization", options.authorization);
      const signal = AbortSignal.timeout(timerMs(timeoutMs));
      const response = await options.fetch(input, { ...init, headers, signal });
      heard.status = response.status;
      heard.headers = headersOf(response);
      const text = await withinBytes(response, signal).text();
      try {
        heard.message = JSON.parse(text);
      } catch {
        heard.message = text;
      }
      return new Response(text, { status: response.status, headers: response.headers });
    };
  const [first, origin = first] = cardPlaces(url);
  const resolver = new DefaultAgentCardResolver({ fetchImpl: fetchFor({ headers: {} }), legacyCompat });
  const card = await cardOf(resolver, first).catch(() => cardOf(resolver, origin));
  return {
    transport: "a2a",
    url,
    tools: async () => card.skills.map(({ id }) => id),
    async call(task, args) {
      const request: SentRequest = { transport: "a2a", operation: task, url, payload: args };
      const heard: Heard = { headers: {} };
      const sentAt = now();
      const times = () => ({ sentAt, tookMs: now() - sentAt });
      const parts = [{ content: { $case: "data", value: { skill: task, parameters: args } } }];
      const message = { messageId: uuid(), role: ROLE_USER, parts };
      let thrown: unknown;
      try {
        const transports = [new JsonRpcTransportFactory({ fetchImpl: fetchFor(heard), legacyCompat })];
        const client = await new ClientFactory({ transports }).createFromAgentCard(card);
        await client.sendMessage({ message } as SendMessageRequest);
      } catch (error) {
        // What the SDK cannot read may be an answer all the same.
        thrown = error;
      }
      const seen = { ...(heard.status !== undefined && { status: heard.status }), headers: heard.headers };
      const body = isJsonObject(heard.message) ? heard.message : {};
      if (body.result === undefined) {
        const rpc = isJsonObject(body.error) ? (body.error as { code?: number; message?: string; data?: unknown }) : {};
        const said = rpc.message ?? (thrown instanceof Error ? thrown.message : "the answer has no result");
        return withinLevels(failedAnswer(request, { ...rpc, message: said }, seen, times()));
      }
      const found = payloadOfA2a(body.result);
      const failed = found.state === "failed" || found.state === "rejected";
      return withinLevels({ request, ...found, failed, ...seen, body: body.result, ...times() });
    },
    close: async () => undefined,
  };
}
