/** What is expected of an agent's webhooks. */
import { wireNames } from "../../contract/index.js";
import type { CaughtWebhook } from "../caught.js";
import { sentences } from "../checks/answers.js";
import { CONTROLLER } from "../controller.js";
import type { StoryboardStep } from "../document.js";
import { isSame } from "../equality.js";
import type { OwnOutcome, OwnTask } from "../own-task.js";
import { fieldAt } from "../paths.js";
import { substituteIn } from "../request.js";
import type { GradedCheck } from "../result.js";
import type { StoryState } from "../state.js";
import { verifyWebhooks } from "./signatures.js";

/** How long is waited for what does not come, in milliseconds. */
const WAIT_MS = { webhook: 30_000, silence: 5_000, retries: 90_000 } as const;
const POLL_MS = 100;
const KEY = /^[A-Za-z0-9_.:-]{16,255}$/;

const stepsOf = ({ storyboard }: StoryState): StoryboardStep[] => storyboard.phases.flatMap(({ steps }) => steps);

/**
 * Webhooks that a step may be about: those to its trigger's URL, and to a registration that is no step's, since the trigger was
 * sent; all of the storyboard's where it names no trigger.
 */
function candidates({ triggered_by: trigger }: StoryboardStep, story: StoryState): readonly CaughtWebhook[] {
  const all = story.run.catcher?.caught(story.storyboard.id) ?? [];
  if (trigger === undefined) return all;
  const ids = new Set(stepsOf(story).map(({ id }) => id));
  const since = story.startedAt.get(trigger) ?? 0;
  return all.filter(({ step, at }) => step === trigger || (!ids.has(step) && at >= since));
}

/** Of those, the ones that its filter lets through. */
function matching(step: StoryboardStep, story: StoryState): CaughtWebhook[] {
  const { primary } = story.run;
  const filter = step.filter ?? {};
  // A filter without a body names fields of the body itself; an operation's id there only routes.
  const fields = (filter.body ??
    Object.fromEntries(Object.entries(filter).filter(([key]) => key !== "operation_id"))) as object;
  const wanted = Object.entries(substituteIn(story, primary.url, fields).value as object);
  return candidates(step, story).filter(({ json }) =>
    wanted.every(([path, value]) => isSame(fieldAt(json, path), value)),
  );
}

async function until(
  step: StoryboardStep,
  story: StoryState,
  enough: (found: CaughtWebhook[]) => boolean,
  ms: number,
): Promise<CaughtWebhook[]> {
  const { now, sleep } = story.run;
  const end = now() + ms;
  for (;;) {
    const found = matching(step, story);
    if (enough(found) || now() >= end) return found;
    await sleep(POLL_MS);
  }
}

const limitOf = (step: StoryboardStep, fallback: number): number =>
  typeof step.timeout_seconds === "number" ? step.timeout_seconds * 1000 : fallback;

/** What keeps a step from looking at webhooks at all. */
function barred(step: StoryboardStep, story: StoryState): OwnOutcome | undefined {
  if (story.run.catcher === undefined)
    return {
      skip: { reason: "unsatisfied_contract", detail: "webhook_receiver_runner: the run receives no webhooks" },
    };
  if (step.triggered_by === undefined) return undefined;
  const trigger = story.results.get(step.triggered_by);
  if (trigger?.status === "passed") return undefined;
  const detail = `${step.triggered_by} ${trigger === undefined ? "was not run" : `was ${trigger.status.replace("_", " ")}`}`;
  return { skip: { reason: "prerequisite_failed", detail } };
}

const finding = (check: string, description: string, ok: boolean, more: Partial<GradedCheck> = {}): GradedCheck => ({
  check,
  description,
  outcome: ok ? "passed" : "failed",
  ...more,
});

function answered(
  step: StoryboardStep,
  story: StoryState,
  webhook: CaughtWebhook | undefined,
): Pick<OwnOutcome, "answer"> {
  if (webhook === undefined) return {};
  const headers = Object.fromEntries(Object.entries(webhook.headers).map(([name, value]) => [name, String(value)]));
  const request = { transport: "http" as const, operation: step.task, url: webhook.url, payload: null };
  const { json = null, at } = webhook;
  return {
    answer: {
      request,
      payload: json,
      origin: "body",
      failed: false,
      headers,
      body: json,
      sentAt: at,
      tookMs: story.run.now() - at,
    },
  };
}

/** A trigger that came to its end at once has no webhook to send; what the controller brings about has its own. */
const endedAtOnce = (step: StoryboardStep, story: StoryState): boolean => {
  const by = stepsOf(story).find(({ id }) => id === step.triggered_by);
  if (by === undefined || by.task === CONTROLLER) return false;
  const trigger = story.answers.get(by.id);
  const status = trigger?.payload?.status ?? trigger?.state;
  return (
    typeof trigger?.payload?.task_id !== "string" &&
    (status === undefined || status === "completed" || trigger?.state === "completed")
  );
};

function keysOf(found: readonly CaughtWebhook[]): string[] {
  return [...new Set(found.map(({ json }) => String(json?.idempotency_key)))];
}

function judged(step: StoryboardStep, story: StoryState, found: readonly CaughtWebhook[]): GradedCheck[] {
  const [first] = found;
  const results: GradedCheck[] = [];
  const schema = typeof step.webhook_payload_schema_ref === "string" ? step.webhook_payload_schema_ref : undefined;
  const { schemas } = story.run;
  if (schema !== undefined && schemas.has(schema)) {
    const verdict = schemas.judge(schema, first?.json);
    const pointer = verdict.errors[0]?.pointer ?? "";
    const more = verdict.ok
      ? {}
      : {
          pointer,
          note: sentences(verdict.errors),
          actual: fieldAt(first?.json, pointer.slice(1).replaceAll("/", ".")),
        };
    results.push(finding("webhook_schema", "the webhook keeps its schema", verdict.ok, { schema, ...more }));
  }
  if (step.expect_idempotency_key === true) {
    const key = first?.json?.idempotency_key;
    const ok = typeof key === "string" && KEY.test(key);
    results.push(
      finding(
        "webhook_idempotency_key",
        "the webhook has a key of 16 to 255 characters",
        ok,
        ok ? {} : { pointer: "/idempotency_key", expected: { pattern: KEY.source }, actual: key },
      ),
    );
  }
  return results;
}

export const expectWebhook: OwnTask = async (step, _phase, story) => {
  const bar = barred(step, story);
  if (bar !== undefined) return bar;
  const most = step.expect_max_deliveries_per_logical_event;
  const limit = limitOf(step, WAIT_MS.webhook);
  const found = await until(step, story, (all) => all.length > 0, limit);
  if (found.length === 0) {
    const caught = candidates(step, story);
    if (caught.length === 0 && endedAtOnce(step, story))
      return {
        skip: {
          reason: "not_applicable",
          detail: `${step.triggered_by} was answered with its end: nothing is left to tell by webhook`,
        },
      };
    const expected = { filter: step.filter ?? {}, within_seconds: limit / 1000 };
    const more = { expected, actual: caught.map(({ json }) => json) };
    return { checks: [finding("webhook_received", "a webhook that matches the filter comes", false, more)] };
  }
  const checks = judged(step, story, found);
  if (typeof most === "number") {
    // Copies under another key may take a moment longer than the first.
    await story.run.sleep(Math.min(2_000, limit));
    const keys = keysOf(matching(step, story));
    const ok = keys.length <= most;
    checks.push(
      finding(
        "webhook_deliveries",
        "one event is told under one key",
        ok,
        ok ? {} : { expected: { keys: most }, actual: keys },
      ),
    );
  }
  return { ...answered(step, story, found[0]), checks };
};

export const expectNoWebhook: OwnTask = async (step, _phase, story) => {
  const bar = barred(step, story);
  if (bar !== undefined) return bar;
  const found = await until(step, story, (all) => all.length > 0, limitOf(step, WAIT_MS.silence));
  const more = found.length === 0 ? {} : { expected: "none", actual: found.map(({ json }) => json) };
  return { checks: [finding("no_webhook", "no webhook comes", found.length === 0, more)] };
};

export const retryKeysStable: OwnTask = async (step, _phase, story) => {
  const bar = barred(step, story);
  if (bar !== undefined) return bar;
  const least = typeof step.expect_min_deliveries === "number" ? step.expect_min_deliveries : 2;
  const found = await until(step, story, (all) => all.length >= least, limitOf(step, WAIT_MS.retries));
  const keys = keysOf(found);
  const one = keys.length === 1;
  const enough = found.length >= least;
  if (found.length === 0 && endedAtOnce(step, story))
    return {
      skip: {
        reason: "not_applicable",
        detail: `${step.triggered_by} was answered with its end: nothing is left to tell by webhook`,
      },
    };
  return {
    ...answered(step, story, found[0]),
    checks: [
      finding(
        "webhook_retries",
        "a refused delivery is repeated",
        enough,
        enough ? {} : { expected: { deliveries: least }, actual: found.length },
      ),
      ...(found.length > 0
        ? [
            finding(
              "webhook_key_stable",
              "each attempt has the same key",
              one,
              one ? {} : { expected: "one key", actual: keys },
            ),
          ]
        : []),
    ],
  };
};

export const signatureValid: OwnTask = async (step, _phase, story) => {
  const bar = barred(step, story);
  if (bar !== undefined) return bar;
  const found = await until(step, story, (all) => all.length > 0, limitOf(step, WAIT_MS.webhook));
  if (found.length === 0) {
    if (endedAtOnce(step, story))
      return {
        skip: {
          reason: "not_applicable",
          detail: `${step.triggered_by} was answered with its end: nothing is left to tell by webhook`,
        },
      };
    return { checks: [finding("webhook_received", "a webhook comes", false, { expected: step.filter, actual: [] })] };
  }
  const tag = wireNames(story.run.release.word).webhookTag;
  const verdict = await verifyWebhooks(found, story);
  const more = verdict.ok ? {} : { expected: `a valid signature tagged ${tag}`, actual: verdict.why };
  return {
    ...answered(step, story, found[0]),
    checks: [finding("webhook_signature", "the webhook is signed by the agent", verdict.ok, more)],
  };
};
