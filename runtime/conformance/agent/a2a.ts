/** Calls over A2A, by the official SDK: 1.0, and 0.3 where an agent has only that. */
import type { AgentCard, SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { isJsonObject } from "../../contract/index.js";
import { timerMs } from "../../timers.js";
import { findCard } from "../../transport/a2a/find-card.js";
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

/** Where calls go: the agent may have been named by its card or its host. */
function endpointOf({ supportedInterfaces }: AgentCard): string | undefined {
  const url = supportedInterfaces?.find(({ protocolBinding }) => protocolBinding === "JSONRPC")?.url;
  return url !== undefined && URL.canParse(url) ? url : undefined;
}

/** Opens what an agent's card describes. @throws where there is no card */
export async function openA2aSession(options: SessionOptions): Promise<AgentSession> {
  const { uuid, now, timeoutMs } = options;
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
  const card = await findCard(options.url, fetchFor({ headers: {} }));
  const url = endpointOf(card) ?? options.url;
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
