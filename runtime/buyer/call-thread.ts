/** What a call goes on with, where it does not begin something: part of the call itself, and kept with it. */
export interface CallThread {
  readonly contextId?: string;
  /** The transport's own task. */
  readonly nativeTaskId?: string | undefined;
  /**
   * Of a call that goes on with a task: what the operation of the first one is made of, since the task keeps its webhooks; and the
   * key of the call whose question it answers, and how many answers of it were taken before, and the
   * task that asks.
   */
  readonly operationOf?:
    | {
        readonly key?: string | undefined;
        readonly answers?: string | undefined;
        readonly given?: number;
        readonly taskId?: string | undefined;
      }
    | undefined;
  /** Questions that were answered before it. */
  readonly questions?: number | undefined;
}
