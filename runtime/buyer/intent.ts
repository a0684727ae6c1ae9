/** A call as it is kept while it is under way. */
import type { JsonObject, TaskStatus } from "../contract/index.js";
import type { CallThread } from "./call-thread.js";
import type { PinBy } from "./pin.js";

/** A call that has not come to its end, as far as is known here. */
export interface Intent {
  readonly idempotencyKey: string;
  readonly tool: string;
  /** The arguments as they are sent, the key among them; without what the transport adds. */
  readonly args: JsonObject;
  /** The caller's own `push_notification_config`, credentials in it as they came. */
  readonly push?: JsonObject;
  /** Version of the release the call is in. */
  readonly release: string;
  readonly pinBy: PinBy;
  /** When it was kept, unix milliseconds. */
  readonly at: number;
  /** What the agent has answered so far; undefined where no answer has come. */
  readonly status?: TaskStatus;
  readonly taskId?: string;
  /** The transport's own task, and the conversation: by them its questions are answered. */
  readonly nativeTaskId?: string;
  readonly contextId?: string;
  /** What its task asked when it was last heard of: a webhook may have told it, and nobody tells it again. */
  readonly question?: { readonly data: unknown; readonly message?: string };
  /** Of a call that asks something: the key of the answer that it goes on as, while what came of that is not known. */
  readonly answeredBy?: string;
  /** Whether a webhook of the buyer's own was registered with it: the same call has the same registration. */
  readonly webhook: boolean;
  /** What of its options belongs to the call itself: the conversation, and the task that it goes on with. */
  readonly thread: CallThread;
}
