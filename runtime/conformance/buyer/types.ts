/** A buyer under test, what it is asked to do, and what was seen of it. */
import type { JsonObject, TerminalStatus } from "../../contract/index.js";
import type { FaultName } from "../../testing/index.js";
import type { CheckFinding } from "../checks/types.js";
import type { StoryboardCheck, StoryboardStep } from "../document.js";
import type { SchemaJudge } from "../schemas.js";

/** What a buyer is asked to do in one phase of a storyboard. */
export interface BuyerTask {
  readonly storyboard: string;
  readonly phase: string;
  /** In words: what is to be bought, and what is to be done when. */
  readonly brief: string;
  /** The seller to buy from: played by the runner, over MCP. */
  readonly seller: { readonly url: string };
  /** What the published steps show as requests, in their order; placeholders of theirs are taken out. */
  readonly requests: readonly { readonly task: string; readonly request: JsonObject }[];
}

/** Has a buyer do it. @returns what the buyer found or decided, where it says so */
export type BuyerStart = (task: BuyerTask, signal: AbortSignal) => Promise<unknown>;

/** What a seller of the run's own does with an order. Names of fields are those of published fixtures; the rest is ours. */
export interface Scenario {
  readonly response_type?: "synchronous" | "submitted" | "input-required";
  readonly media_buy_status?: string;
  readonly task_id?: string;
  readonly error_code?: string;
  readonly http_status?: number;
  readonly www_authenticate?: string;
  readonly retry_after?: number;
  readonly message?: string;
  /** Why more has to be said, of `input-required`. */
  readonly reason?: string;
  /** Orders that it is the answer to; default 1. The last scenario of a phase is the answer to all others. */
  readonly times?: number;
  /** The order is taken, and the answer lost on the way. */
  readonly lost?: boolean;
  /** Polls that find the task unfinished; default 1. */
  readonly polls?: number;
  /** What the task comes to; default `completed`. */
  readonly ends?: TerminalStatus;
  /** Webhooks come twice, late, captured and forged; the task ends when the true one of its end is sent. */
  readonly webhooks?: "hostile";
}

/** One call of the buyer, as the seller saw it. */
export interface SeenCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly phase: string;
  readonly tool: string;
  readonly url: string;
  readonly args: JsonObject;
  /** Undefined where the answer was lost on purpose. */
  readonly answer: JsonObject | undefined;
  /** What was made of an order; undefined for other tools. */
  readonly scenario?: Scenario;
  /** Answered as the same request was before. */
  readonly replayed?: true;
}

/** One webhook sent to the buyer's receiver, and how it was answered. */
export interface SentWebhook {
  readonly at: number;
  readonly phase: string;
  /** `captured`: a good request, once more as it was. */
  readonly as: "genuine" | "duplicate" | "captured" | "late" | FaultName;
  readonly url: string;
  readonly body: JsonObject;
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  /** Text of the answer, or why there was none. */
  readonly said: string;
}

/** What one phase has come to. */
export interface SeenPhase {
  readonly calls: readonly SeenCall[];
  readonly webhooks: readonly SentWebhook[];
  /** When the buyer was told of the end of a task: task -> milliseconds since the epoch. */
  readonly ended: ReadonlyMap<string, number>;
  /** What the buyer gave as its result; undefined where it gave none. */
  readonly output: unknown;
  /** Why its start failed. */
  readonly broken?: string;
}

/** What a check is given. */
export interface BuyerView {
  readonly step: StoryboardStep;
  readonly seen: SeenPhase;
  /** The call that the step is about; undefined where the buyer did not make it. */
  readonly call: SeenCall | undefined;
  readonly schemas: SchemaJudge;
}

export type BuyerCheck = (check: StoryboardCheck, view: BuyerView) => CheckFinding;
