/**
 * What a task asked before a crash, when its call is carried on: an agent answers a key that it knows as it did the first time, though
 * the task may have gone on since; and of a question that only a webhook told it says nothing at all.
 */
import { isInterim } from "../contract/index.js";
import type { BuyerCallDependencies } from "./call-dependencies.js";
import type { ExchangeResult } from "./exchange.js";
import type { Intent } from "./intent.js";
import { keptTask } from "./intents.js";
import { type PolledCall, poll } from "./poll.js";

interface AgainCall extends Omit<PolledCall, "taskId"> {
  /** The call as it was kept; undefined of one that is made for the first time. */
  readonly again: Intent | undefined;
  readonly operationId: string | undefined;
}

/** @returns the question where it still stands, as far as anybody tells; else the task, to be waited for */
export async function questionSince(
  dependencies: BuyerCallDependencies,
  outcome: ExchangeResult,
  of: AgainCall,
): Promise<ExchangeResult> {
  const { again, release } = of;
  const { answer, taskId, nativeTaskId } = outcome;
  if (again === undefined || taskId === undefined) return outcome;
  const asks = questionOf(outcome, again);
  if (asks === undefined) return outcome;
  const polled = await poll(dependencies, { ...of, taskId });
  const stands =
    polled.kind === "task" ? polled.task.status === "input-required" : !(await hasEnded(dependencies, of, taskId));
  if (stands) return asks;
  const { contextId } = answer;
  return keptTask({ taskId, nativeTaskId, ...(contextId !== undefined && { contextId }) }, release) ?? outcome;
}

function questionOf(outcome: ExchangeResult, { question }: Intent): ExchangeResult | undefined {
  const { answer } = outcome;
  if (answer.status === "input-required") return outcome;
  if (question === undefined || !isInterim(answer.status)) return undefined;
  return { ...outcome, answer: { ...answer, ...question, status: "input-required" } };
}

/** A webhook has told of its end, and its handler had it. */
async function hasEnded(
  { settings }: BuyerCallDependencies,
  { operationId }: AgainCall,
  taskId: string,
): Promise<boolean> {
  if (settings.webhooks === undefined) return false;
  const { receiver, sender } = settings.webhooks;
  return (await receiver.store.task?.(sender, taskId, operationId))?.terminal === true;
}
