/** What a subject adds to the calls of its tools. The pipeline that every call goes through knows no tool by its name. */
import type { JsonObject } from "../contract/index.js";
import type { Coroutine } from "../db/coroutine.js";
import type { Refused, TaskStart } from "../sender/types.js";

/** A call that was answered. */
export interface AnsweredCall {
  /** Name of the tool. */
  readonly tool: string;
  readonly principal: string;
  /** Version of the release the call is in. */
  readonly release: string;
  readonly args: JsonObject;
  readonly payload: JsonObject;
  /** The task that it was answered by, where it was answered later: `hold` has seen its request. */
  readonly taskId?: string;
}

export interface CallPlug<Tx> {
  /** Id of what a request or a result is about: its tasks are found by it. */
  subjectOf(document: JsonObject): string | undefined;
  /** An answer's data, with what the seller knows beside its handler. */
  complete(call: AnsweredCall): Promise<JsonObject>;
  /** Whether something is to be written with a completed answer. */
  keeps(tool: string, args: JsonObject): boolean;
  /** What a caller is refused that asks for what could not be written: before its call has done anything. */
  refusal(tool: string, args: JsonObject, release: string): Refused | undefined;
  /** Keeps what of a request is to be written when its task has ended. @throws ToolError where it is refused */
  hold(tx: Tx, start: TaskStart, args: JsonObject): Coroutine<void>;
  /** Writes it. @throws ToolError where it is refused */
  keep(tx: Tx, call: AnsweredCall): Coroutine<void>;
}
