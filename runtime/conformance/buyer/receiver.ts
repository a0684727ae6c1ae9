/** PlayedAnswer vectors posted to a buyer's receiver: `replay_webhook_vector`. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import type { TestKey } from "../../testing/key.js";
import { signTestWebhook } from "../../testing/sign.js";
import type { Storyboard, StoryboardStep } from "../document.js";
import { type Suite, suiteFile } from "../load.js";
import type { GradedCheck, Skip, StepResult } from "../result.js";
import { oneLine, stepHash } from "../step-words.js";
import { post } from "./webhooks.js";

const REPLAY = "replay_webhook_vector";

export const isReceiverStoryboard = ({ phases }: Storyboard): boolean =>
  phases.length > 0 && phases.every(({ steps }) => steps.length > 0 && steps.every(({ task }) => task === REPLAY));

export interface ReceiverRun {
  readonly suite: Suite;
  readonly receiver: string | undefined;
  readonly key: TestKey;
  readonly now: () => number;
  readonly fetch: typeof globalThis.fetch;
}

/** `file.json#positive/an-id`: a list of the file, and an entry of it. */
function vectorOf(ref: unknown, suite: Suite): JsonObject | undefined {
  const [file = "", at = ""] = String(ref).split("#");
  const [list = "", id = ""] = at.split("/");
  const rows = suiteFile(suite, file)?.[list];
  const row = Array.isArray(rows) ? rows.find((one) => isJsonObject(one) && one.id === id) : undefined;
  return isJsonObject(row) && isJsonObject(row.payload) ? row.payload : undefined;
}

const statusCheck = (step: StoryboardStep, status: number | undefined, said: string): GradedCheck => {
  const refused = step.expect_error === true;
  const good = status !== undefined && status >= 200 && status < 300;
  const held = refused ? status !== undefined && status >= 400 && status < 500 : good;
  return {
    check: "webhook_answer",
    description: refused ? "it is refused before anything is done with it" : "it is answered with 2xx",
    outcome: held ? "passed" : "failed",
    ...(!held && { expected: refused ? "4xx" : "2xx", actual: status ?? said }),
  };
};

/** Grades a receiver by the vectors of one storyboard. */
export async function gradeReceiver(storyboard: Storyboard, run: ReceiverRun): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const phase of storyboard.phases)
    for (const step of phase.steps) {
      const known = {
        ...{ storyboard: storyboard.id, phase: phase.id, step: step.id, task: step.task, hash: stepHash(step) },
        ...{ title: oneLine(step.title ?? step.id), required: oneLine(step.expected ?? step.title), tookMs: 0 },
      };
      const left = (skip: Skip): StepResult => ({ ...known, status: "skipped", skip, checks: [] });
      const body = vectorOf(step.vector_ref, run.suite);
      if (run.receiver === undefined) {
        results.push(left({ reason: "not_applicable", detail: "no receiver is given: --receiver URL" }));
        continue;
      }
      if (body === undefined) {
        results.push(left({ reason: "fixture_unavailable", detail: `the suite has no vector ${step.vector_ref}` }));
        continue;
      }
      const { receiver: url, key, now, fetch } = run;
      const request = signTestWebhook({ url, event: body, key, now });
      const sent = await post(request, { as: "genuine", body }, { url, phase: phase.id, key, now, fetch });
      const check = statusCheck(step, sent.status, sent.said);
      results.push({
        ...known,
        status: check.outcome === "failed" ? "failed" : "passed",
        checks: [check],
        request: { transport: "http", operation: step.task, url, payload: body },
        response: {
          ...(sent.status !== undefined && { status: sent.status }),
          headers: {},
          payload: sent.said,
          origin: "body",
        },
      });
    }
  return results;
}
