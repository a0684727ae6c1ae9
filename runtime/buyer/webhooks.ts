/** What a buyer is given for webhooks of its calls. */
import type { MaybePromise, TaskStatus } from "../contract/index.js";
import type { Completions } from "./completions.js";

/** What a buyer uses of a receiver (`createReceiver` of adbind/receiver gives one). */
export interface WebhookReceiver {
  readonly store: {
    /** Whether a task has ended, as its webhooks tell. */
    task?(sender: string, taskId: string, operationId?: string): Promise<{ readonly terminal: boolean } | undefined>;
    readonly inbox: {
      /** Events of one task that the receiver still holds, in their order. */
      list(filter: {
        readonly sender: string;
        readonly taskId: string;
        readonly limit: number;
      }): MaybePromise<readonly { readonly body: Uint8Array }[]>;
    };
  };
  expect(expectation: {
    readonly route: string;
    readonly sender: string;
    readonly kind: "task";
    readonly mode: "signature" | "HMAC-SHA256" | "Bearer";
    readonly operationId: string;
    readonly taskType: string;
    readonly release?: string;
  }): Promise<number>;
  forget(route: string, operationId?: string): Promise<boolean>;
  watchTask(options: {
    readonly sender: string;
    readonly taskId: string;
    readonly taskType: string;
    readonly operationId?: string;
    readonly poll: () => Promise<TaskPoll>;
    readonly webhooks?: boolean;
    /** Until the first poll, in milliseconds. */
    readonly firstMs?: number;
    /** Version of the release that the task's answers are in. */
    readonly release?: string;
    readonly signal?: AbortSignal;
  }): Promise<{ readonly status: TaskStatus } | null>;
}

/** A task as a poll finds it. */
export interface TaskPoll {
  readonly status: TaskStatus;
  /** RFC 3339; absent where the agent does not say. */
  readonly timestamp?: string;
  readonly result?: unknown;
  readonly message?: string;
}

/** The receiver that webhooks of calls arrive at, and its public URL. */
export interface BuyerWebhooks {
  readonly receiver: WebhookReceiver;
  /** Where the seller sends webhooks: a URL that reaches the receiver. */
  readonly url: string;
  /** The request target the receiver sees for `url`; the URL's path and query by default. */
  readonly route?: string;
  /** Name the receiver knows this seller by in its `senders`; the agent's URL by default. */
  readonly sender?: string;
  /** What the receiver's handlers were told, so that a task's end need not be asked for. Polling tells it otherwise. */
  readonly completions?: Completions;
  /** Deprecated credentials instead of signatures (docs/protocol/signing.md#legacy-schemes). */
  readonly authentication?: { readonly scheme: "HMAC-SHA256" | "Bearer"; readonly credentials: string };
}
