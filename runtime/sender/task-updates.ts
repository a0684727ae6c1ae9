/** Changes of tasks, several in one transaction: each is judged by what those before it made of its task. */
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import type { Coroutine, Locking, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { type EachWork, lockedElsewhere, oneOf } from "../queue/each.js";
import type { DedupRow, SentTaskRow, TasksFound, TasksWritten, WrittenChange } from "../store/sent-tasks.js";
import { jsonOf } from "./envelope.js";
import { addInParts, type Delivery, jobsAtOnce, toNewJob } from "./outbox.js";
import { changeOf, type SenderTaskDependencies, taskExpires } from "./task-events.js";
import type { Emitted, StatusChange } from "./types.js";

/** A change that is asked for. */
export interface Update {
  readonly taskId: string;
  readonly change: StatusChange;
  readonly dedupKey: string | undefined;
  /** Whose the task is, where whoever asks says so. */
  readonly principal: string | undefined;
  /** When it changed, unix milliseconds; now where nobody says. */
  readonly at: number | undefined;
  /** `traceparent` of who asked. */
  readonly trace: string | undefined;
}

/** What changes make of tasks as they were found, or are believed to be. */
interface Made {
  readonly tasks: Map<string, SentTaskRow>;
  /** As they were before. */
  readonly before: ReadonlyMap<string, SentTaskRow>;
  readonly events: Delivery[];
  /** Events under dedup keys, by task and key. */
  readonly dedups: Map<string, DedupRow>;
  readonly newDedups: DedupRow[];
}

type Results = readonly PromiseSettledResult<Emitted>[];

interface Asking {
  readonly parts: SenderTaskDependencies;
  readonly query: Query;
  readonly updates: readonly Update[];
  readonly locking: Locking;
  /** One that is rejected undoes them all. */
  readonly whole?: boolean;
  /** In no transaction but its own. */
  readonly atOnce?: boolean;
}

/** Statements that may fail to meet the tasks they were made for: a dedup key that comes up at once, and no more. */
const TURNS = 4;

export const updateWork = (parts: SenderTaskDependencies): EachWork<Update, Emitted> =>
  Object.assign(
    (query: Query, updates: readonly Update[], locking: Locking) => updateFlow({ parts, query, updates, locking }),
    {
      atOnce: function* (query: Query, updates: readonly Update[]): Coroutine<Results | undefined> {
        const guess = parts.tables.changeTasksAtOnce && guessed(parts, updates);
        if (guess === undefined || jobsAtOnce(guess.made.events).length < guess.made.events.length) return undefined;
        const answer = yield* write({ parts, query, updates, locking: "skip", atOnce: true }, guess);
        return "notified" in answer ? guess.results : undefined;
      },
    },
  );

/** All or nothing. @throws `lockedElsewhere` with `skip`, where another transaction holds one of the tasks */
export function* updateAllFlow(asking: Omit<Asking, "whole" | "atOnce">): Coroutine<Emitted[]> {
  if (asking.updates.length === 0) return [];
  const results = yield* updateFlow({ ...asking, whole: true });
  return results.map((result) => oneOf([result]));
}

function* updateFlow(asking: Asking): Coroutine<Results> {
  const { parts, updates } = asking;
  let judged = guessed(parts, updates);
  for (let turn = 0; turn < TURNS; turn++) {
    const answer = yield* write(asking, judged);
    if ("notified" in answer) return judged!.results;
    judged = judge(asking, answer);
    const refused = judged.results.find(({ status }) => status === "rejected");
    if (asking.whole && refused !== undefined) throw (refused as PromiseRejectedResult).reason;
    if (judged.changes.length === 0) return judged.results;
  }
  throw new AdbindError("database_busy", "another transaction keeps changing the same tasks", {
    where: `task ${updates[0]!.taskId}`,
    remedy: "nothing was written; try again",
  });
}

interface Judged {
  readonly results: Results;
  readonly made: Made;
  readonly changes: readonly WrittenChange[];
}

/** By what is known here; undefined where that is not enough, or the tasks themselves must be asked whether it may be. */
function guessed(parts: SenderTaskDependencies, updates: readonly Update[]): Judged | undefined {
  const tasks = parts.known?.all(idsOf(updates));
  if (tasks === undefined) return undefined;
  const judged = judge({ parts, updates }, { tasks, elsewhere: [], dedups: [] });
  return judged.results.every(({ status }) => status === "fulfilled") ? judged : undefined;
}

function judge({ parts, updates }: Pick<Asking, "parts" | "updates">, found: TasksFound): Judged {
  const before = new Map(found.tasks.map((row) => [row.task_id, row]));
  const dedups = new Map(found.dedups.map((row) => [nameOf(row.task_id, row.dedup_key), row]));
  const made: Made = { tasks: new Map(before), before, events: [], dedups, newDedups: [] };
  const elsewhere = new Set(found.elsewhere);
  const results = updates.map((update): PromiseSettledResult<Emitted> => {
    if (elsewhere.has(update.taskId)) return { status: "rejected", reason: lockedElsewhere };
    try {
      return { status: "fulfilled", value: applied(parts, made, update) };
    } catch (reason) {
      return { status: "rejected", reason };
    }
  });
  return { results, made, changes: changesOf(made) };
}

const idsOf = (updates: readonly Update[]): string[] => [...new Set(updates.map(({ taskId }) => taskId))];

const principalsOf = ({ before }: Made): string[] => [...before.values()].map(({ principal }) => principal);

/** Tasks, dedup keys and jobs together. @param judged nothing: they are only looked at */
function* write(asking: Asking, judged: Judged | undefined): Coroutine<TasksWritten | TasksFound> {
  const { parts, query, updates, locking, atOnce = false } = asking;
  const keyed = updates.flatMap(({ taskId, dedupKey }) =>
    dedupKey === undefined ? [] : [{ task_id: taskId, dedup_key: dedupKey }],
  );
  const made = judged?.made;
  const jobs = made?.events.map((event) => toNewJob(event, parts.bodies)) ?? [];
  const first = jobs.slice(0, jobsAtOnce(made?.events ?? []).length);
  const part = jobs.length > 0 ? parts.queue.part(first) : undefined;
  const writes = judged && {
    changes: judged.changes,
    dedups: judged.made.newDedups,
    addJobs: (q: Query) => addInParts(parts.queue, q, jobs),
    jobs: part?.addition,
  };
  const principals = [...new Set(updates.flatMap(({ principal }) => principal ?? []))];
  const request = { taskIds: idsOf(updates), principals, keyed, locking, writes };
  const answer = yield* atOnce && made !== undefined
    ? parts.tables.changeTasksAtOnce!(query, request, principalsOf(made))
    : parts.tables.changeTasks(query, request);
  if (!("notified" in answer)) return answer;
  part?.added(query, answer.notified);
  if (part !== undefined) yield* addInParts(parts.queue, query, jobs.slice(first.length));
  for (const row of made!.tasks.values()) {
    if (isTerminal(row.status as TaskStatus)) parts.known?.forget(row.task_id);
    else parts.known?.note(row);
  }
  return answer;
}

function changesOf({ before, tasks }: Made): WrittenChange[] {
  const changes: WrittenChange[] = [];
  for (const { task_id, status, instant, expires, revision } of tasks.values()) {
    const was = before.get(task_id)!;
    if (revision === was.revision) continue;
    changes.push({ task_id, status, instant, expires, revision, was: was.revision, prolongs: expires !== was.expires });
  }
  return changes;
}

const nameOf = (taskId: string, dedupKey: string): string => JSON.stringify([taskId, dedupKey]);

function applied(
  parts: SenderTaskDependencies,
  progress: Made,
  { taskId, change, dedupKey, trace, at }: Update,
): Emitted {
  const task = progress.tasks.get(taskId);
  if (task === undefined) return { keys: [] };
  if (dedupKey === undefined) return { keys: made(parts, progress, task, { ...change, trace, at }) };
  const digest = digestOf(taskId, change);
  const known = progress.dedups.get(nameOf(taskId, dedupKey));
  if (known === undefined) {
    const keys = made(parts, progress, task, { ...change, trace, at });
    const expires = taskExpires(parts.now());
    const row: DedupRow = { task_id: taskId, dedup_key: dedupKey, digest, keys: JSON.stringify(keys), expires };
    progress.dedups.set(nameOf(taskId, dedupKey), row);
    progress.newDedups.push(row);
    return { keys };
  }
  if (known.digest === digest) return { keys: JSON.parse(known.keys) as string[] };
  throw new AdbindError("dedup_conflict", `the dedup key ${dedupKey} was used for another change`, {
    where: `task ${taskId}`,
    remedy: "use a key of its own for each change, and the same content when it is repeated",
  });
}

/** @returns the keys of its events */
function made(
  parts: SenderTaskDependencies,
  progress: Made,
  task: SentTaskRow,
  { trace, at, ...change }: StatusChange & Pick<Update, "trace" | "at">,
): string[] {
  const { next, deliveries } = changeOf(parts, task, change, at);
  progress.tasks.set(task.task_id, { ...task, ...next });
  progress.events.push(...(trace === undefined ? deliveries : deliveries.map((one) => ({ ...one, trace }))));
  return deliveries.map(({ key }) => key);
}

/**
 * The same for the same content, however its members are ordered. There is no canonical form of half a character, nor of a number
 * beyond doubles, which events carry all the same: such content is known by its JSON as it was given.
 * @throws AdbindError `event_invalid` for what has no JSON form
 */
function digestOf(taskId: string, { status, result, message }: StatusChange): string {
  const content = { status, result: (result ?? null) as JsonObject | null, message: message ?? null };
  return hash("sha256", canonicalOf(content) ?? jsonOf(content, `task ${taskId}`), "base64url");
}

function canonicalOf(content: JsonObject): string | undefined {
  try {
    return canonicalize(content);
  } catch {
    return undefined;
  }
}
