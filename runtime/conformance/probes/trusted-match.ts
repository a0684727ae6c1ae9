/** Probes of a router of trusted matches: requests without a publisher's authentication have to be refused. */
import { isJsonObject } from "../../contract/index.js";
import { headersOf, readStart } from "../agent/http.js";
import type { OwnTask } from "../own-task.js";
import { fieldAt } from "../paths.js";
import { substituteIn } from "../request.js";

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
  const url = new URL(kind, declared.endsWith("/") ? declared : `${declared}/`).href;
  const { value } = substituteIn(story, run.primary.url, step.sample_request ?? {});
  const headers = {
    "content-type": "application/json",
    ...(step.task.includes("invalid") && { authorization: "Bearer invalid" }),
  };
  const request = { transport: "http" as const, operation: step.task, url, payload: value };
  const sentAt = run.now();
  const response = await run.fetch(url, { method: "POST", headers, body: JSON.stringify(value), redirect: "manual" });
  const body = await readStart(response);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  const payload = isJsonObject(parsed) ? parsed : null;
  const { status } = response;
  const failed = status >= 400;
  return {
    answer: {
      request,
      payload,
      origin: "body",
      failed,
      status,
      headers: headersOf(response),
      body,
      sentAt,
      tookMs: run.now() - sentAt,
    },
  };
};
