/**
 * A change of a task's status: whether it may be, and the event it makes for each channel
 * (docs/protocol/tasks.md#transitions).
 */
import type { AnyTool, JsonObject, Release, TaskStatus } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { surfaceMember } from "../facts/index.js";
import type { Queue } from "../queue/types.js";
import type { SenderTables } from "../store/sender-tables.js";
import { newRevision, type SentTaskRow, type TaskChange } from "../store/sent-tasks.js";
import type { AnyValidator } from "../validate/types.js";
import { operationInUrl, operationIsInUrl } from "./endpoint-names.js";
import { a2aEvent, encodeBody, mcpEnvelope, type TaskEvent, TOKEN_BYTES } from "./envelope.js";
import type { KnownTasks } from "./known-tasks.js";
import { boundUnder, type Delivery, taskOrderingKey } from "./outbox.js";
import { REDACTED } from "./redact.js";
import type { StoredConfig } from "./registered-config.js";
import type { RegistrationRules } from "./registration.js";
import type { SenderReleases } from "./releases.js";
import type { Bodies } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import { type TaskDetails, taskDetailsOf } from "./task-details.js";
import { checkTimes } from "./times.js";
import { describeNext, mayFollow } from "./transitions.js";
import type { PushNotificationConfig, StatusChange } from "./types.js";

export interface SenderTaskDependencies {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly releases: SenderReleases;
  readonly rules: RegistrationRules;
  readonly now: () => number;
  readonly uuid: () => string;
  /** Where each statement is a journey to a server. */
  readonly known: KnownTasks | undefined;
  readonly keyring: Keyring;
  readonly bodies: Bodies;
}

/** A task is remembered this long after its last event, in milliseconds: a repeated change is then still refused. */
const TASK_RETENTION_MS = 90 * 86_400_000;
const DAY_MS = 86_400_000;
/** Whole days: a change then changes nothing that an index has, which costs a third of it. @param now unix milliseconds */
export const taskExpires = (now: number): number => Math.ceil((now + TASK_RETENTION_MS) / DAY_MS) * DAY_MS;

/** @throws AdbindError `event_invalid` for a tool the release does not have */
export function toolOf(release: Release, name: string): AnyTool {
  const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
  if (tool !== undefined) return tool;
  throw new AdbindError("event_invalid", "the release has no such tool", {
    where: name,
    remedy: `use a tool of release ${release.version}`,
  });
}

/**
 * What a change makes of its task, and the events that tell of it.
 * @param at when it changed, unix milliseconds
 * @throws AdbindError `transition_refused`, `event_invalid`
 */
export function changeOf(
  parts: SenderTaskDependencies,
  task: SentTaskRow,
  change: StatusChange,
  at: number = parts.now(),
): { readonly next: TaskChange; readonly deliveries: readonly Delivery[] } {
  const { task_id: taskId } = task;
  const details = taskDetailsOf(task);
  const { release, validator } = parts.releases.of(details.release);
  const from = task.status as TaskStatus;
  if (!mayFollow(from, change.status)) {
    throw new AdbindError("transition_refused", `a task that is ${from} cannot become ${change.status}`, {
      where: `task ${taskId}`,
      remedy: `from here it may become ${describeNext(from)}`,
    });
  }
  const tool = toolOf(release, task.tool);
  checkResult(validator, tool, taskId, change);
  const instant = laterThan(task.instant, at);
  return {
    next: {
      task_id: taskId,
      status: change.status,
      instant,
      expires: taskExpires(parts.now()),
      revision: newRevision(),
    },
    deliveries: deliveriesOf(parts, task, { details, release, tool }, change, instant),
  };
}

/** The last instant that was written out: many changes come in one millisecond. */
let written = { ms: 0, instant: new Date(0).toISOString() };

function instantOf(ms: number): string {
  if (ms === written.ms) return written.instant;
  checkTimes({ at: ms });
  written = { ms, instant: new Date(ms).toISOString() };
  return written.instant;
}

/** Receivers apply only what is newer: two events of a task never carry one time, whatever the clock does. */
function laterThan(before: string, now: number): string {
  const instant = instantOf(now);
  // Of one form and length, they sort as texts.
  return before < instant ? instant : new Date(Date.parse(before) + 1).toISOString();
}

function checkResult(
  validator: Pick<AnyValidator, "arm">,
  tool: AnyTool,
  taskId: string,
  { status, result }: StatusChange,
): void {
  if (result == null) {
    if (status !== "completed") return;
    throw new AdbindError("event_invalid", "a completed task has a result", {
      where: `task ${taskId}`,
      remedy: `give the response of ${tool.name}`,
    });
  }
  const object = typeof result === "object" && !Array.isArray(result);
  const judged = !object
    ? { ok: false as const, errors: [{ pointer: "", message: "must be object" }] }
    : Object.hasOwn(tool.arms, status)
      ? validator.arm(tool.name, status, result)
      : { ok: true as const };
  if (judged.ok) return;
  const [first] = judged.errors;
  throw new AdbindError("event_invalid", `the result is not what ${tool.name} answers when ${status}`, {
    where: `task ${taskId}, result${first?.pointer ?? ""}: ${first?.message ?? ""}`,
    remedy: "send what the release's schema allows",
  });
}

/**
 * The caller's word for the operation. Where releases have no place for it in a registration it is "embedded in the webhook URL by
 * the buyer", and its last segment is told, so that he need not take his URL apart; but not one that is sealed, since it may be a
 * secret. Elsewhere the URL is nobody's but his.
 */
function operationOf(
  {
    operation_id: registered,
    url,
    sealed,
  }: Pick<StoredConfig<PushNotificationConfig>, "operation_id" | "url" | "sealed">,
  release: Release,
): string | undefined {
  if (registered !== undefined || !operationIsInUrl(release)) return registered;
  const inUrl = operationInUrl(url);
  return sealed && inUrl === REDACTED ? undefined : inUrl;
}

/** One per channel: each has its own key, and its own order. */
function deliveriesOf(
  { uuid }: SenderTaskDependencies,
  task: SentTaskRow,
  { details, release, tool }: { readonly details: TaskDetails; readonly release: Release; readonly tool: AnyTool },
  change: StatusChange,
  timestamp: string,
): Delivery[] {
  const { push, a2a, context, contextId } = details;
  const event = (key: string): TaskEvent => ({
    key,
    taskId: task.task_id,
    tool: tool.name,
    surface: { [surfaceMember(release)]: tool.protocol },
    status: change.status,
    timestamp,
    operationId: push && operationOf(push, release),
    contextId,
    context,
    message: change.message,
    result: change.result,
  });
  const base = { principal: task.principal, subject: task.task_id, type: tool.name, ...boundUnder(release) };
  const delivery = (
    via: "push" | "a2a",
    { url, endpoint, tokened }: StoredConfig,
    shape: (of: TaskEvent) => JsonObject,
  ) => {
    const key = uuid();
    // A2A's own travels in a header.
    const echoes = tokened === true && via === "push";
    return {
      ...{ ...base, key, url, endpoint },
      orderingKey: taskOrderingKey(via, task.task_id),
      target: { task: task.task_id, via },
      body: encodeBody(shape(event(key)), `task ${task.task_id}`, echoes ? TOKEN_BYTES : 0),
      ...(echoes && { tokened: true as const }),
    };
  };
  return [
    ...(push === undefined ? [] : [delivery("push", push, mcpEnvelope)]),
    ...(a2a === undefined ? [] : [delivery("a2a", a2a, a2aEvent)]),
  ];
}
