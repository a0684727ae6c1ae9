/** Probes of a router of trusted matches: requests without a publisher's authentication have to be refused. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { withinLevels } from "../agent/answer-limits.js";
import { failedAnswer, faultWords } from "../agent/failed-answer.js";
import { headersOf, PROBE_MS, readStart } from "../agent/http.js";
import type { AgentAnswer, SentRequest } from "../agent/types.js";
import type { OwnTask } from "../own-task.js";
import { fieldAt } from "../paths.js";
import { substituteIn } from "../request.js";
import type { RunState } from "../state.js";

export const trustedMatchProbe: OwnTask = async (step, _phase, story) => {
  const { run } = story;
  const declared =
    fieldAt(run.primary.capabilities, "trusted_match.endpoint") ??
    fieldAt(run.primary.capabilities, "trusted_match.router_url");
  if (typeof declared !== "string")
    return {
      skip: {
        reason: "requirement_unmet",
        detail: "trusted_match_publisher_auth_runner: the agent declares no endpoint of a router",
      },
    };
  const kind = step.task.includes("identity") ? "identity" : "context";
  const base = declared.endsWith("/") ? declared : `${declared}/`;
  if (!/^https?:/i.test(base) || !URL.canParse(kind, base))
    return { problem: `the agent declares ${declared} as its router, which is no URL` };
  const { value } = substituteIn(story, run.primary.url, step.sample_request ?? {});
  const request = { transport: "http" as const, operation: step.task, url: new URL(kind, base).href, payload: value };
  const answer = await ask(request, step.task.includes("invalid"), run);
  return { answer, ...(answer.error && { problem: `no answer of the router: ${answer.error.message}` }) };
};

async function ask(request: SentRequest, invalid: boolean, { fetch, now }: RunState): Promise<AgentAnswer> {
  const headers = { "content-type": "application/json", ...(invalid && { authorization: "Bearer invalid" }) };
  const sentAt = now();
  const times = () => ({ sentAt, tookMs: now() - sentAt });
  try {
    const sent = { method: "POST", headers, body: JSON.stringify(request.payload), redirect: "manual" } as const;
    const response = await fetch(request.url, { ...sent, signal: AbortSignal.timeout(PROBE_MS) });
    const body = await readStart(response);
    const { status } = response;
    const seen = { failed: status >= 400, status, headers: headersOf(response), body };
    return withinLevels({ request, payload: objectIn(body), origin: "body", ...seen, ...times() });
  } catch (error) {
    return failedAnswer(request, { message: faultWords(error) }, { headers: {} }, times());
  }
}

function objectIn(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
