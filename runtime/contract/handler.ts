/** What a seller writes: a handler per tool, typed by the release. */
import type { Answer } from "./answer.js";
import type { ArmsOf, Inborn, RequestOf, Tools } from "./tool.js";

/** What may answer at once, and need not: nothing is waited for where there is nothing to wait for. */
export type MaybePromise<T> = T | Promise<T>;

/** What a seller's handler returns: one of the tool's arms; of a tool in several releases, one of any of them. */
export type Reply<T> = T extends unknown
  ? { [S in keyof ArmsOf<T>]-?: { status: S; data: ArmsOf<T>[S] } }[keyof ArmsOf<T>]
  : never;

/** Answers one tool: a request in, one arm out. */
export type ToolHandler<T, Context = unknown> = (request: RequestOf<T>, context: Context) => MaybePromise<Reply<T>>;

/** Tools as they are called: what `createBuyer` of adbind/buyer gives has them, and any double that a test makes. */
export type CallerTools<T extends Tools, Needed extends keyof T> = {
  readonly [K in Needed]: (request: RequestOf<T[K]>) => Promise<{
    readonly answer: Answer<ArmsOf<T[K]>>;
    /** The end of the task, or what it asks. */
    waitForCompletion(): Promise<Answer<ArmsOf<T[K]>>>;
  }>;
};

/** A seller's tools: those of `Required` must be there, any other of the release may. */
export type SellerTools<T extends Tools, Required extends keyof T, Context = unknown> = {
  [K in Required]: ToolHandler<T[K], Context>;
} & { [K in Exclude<keyof T, Required>]?: ToolHandler<T[K], Context> | Inborn<K> };
