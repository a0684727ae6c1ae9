/**
 * What a buyer was about to do, kept before it does it: a call's key and payload are stored before the request leaves, so that
 * who starts again after a crash repeats the same call instead of making another.
 */
import type { JsonObject, ProtocolError, Release, TaskStatus } from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { INTENTS } from "../store/intent-documents.js";
import type { CallThread } from "./call-thread.js";
import { type ExchangeResult, failedHere } from "./exchange.js";
import { localError } from "./fault.js";
import type { PinnedRelease } from "./negotiation.js";
import type { PinBy } from "./pin.js";
import type { BuyerSettings } from "./settings.js";
import type { LocalError } from "./types.js";

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
  /** Whether a webhook of the buyer's own was registered with it: the same call has the same registration. */
  readonly webhook: boolean;
  /** What of its options belongs to the call itself: the conversation, and the task that it goes on with. */
  readonly thread: CallThread;
}

/** The options by which a call that was kept is made as it was. */
export const keptOptions = (again: Intent): CallThread & { readonly webhook: boolean; readonly again: Intent } => ({
  ...again.thread,
  webhook: again.webhook,
  again,
});

/** The request that was kept, as its caller gave it. */
export const keptRequest = ({ args, push }: Intent): JsonObject => ({
  ...args,
  ...(push !== undefined && { push_notification_config: push }),
});

/** What an answer, or the end of a wait, tells of a call. */
export interface ToldOfCall {
  /** It tells nothing of what became of it. */
  readonly lost: boolean;
  readonly taskId: string | undefined;
  readonly nativeTaskId?: string | undefined;
  readonly answer?: { readonly contextId?: string };
}

/** A call as it is kept once its agent has answered; what is not told again stays. */
export const toldIntent = (
  intent: Intent,
  status: TaskStatus,
  { taskId, nativeTaskId, answer }: ToldOfCall,
): Intent => ({
  ...{ ...intent, status },
  ...(taskId !== undefined && { taskId }),
  ...(nativeTaskId !== undefined && { nativeTaskId }),
  ...(answer?.contextId !== undefined && { contextId: answer.contextId }),
});

/** A call as it is kept before it leaves. */
export function intentOf(
  {
    idempotencyKey,
    tool,
    args,
    release,
    pinBy,
    at,
  }: Omit<Intent, "push" | "webhook" | "thread" | "status" | "taskId" | "nativeTaskId" | "contextId">,
  { push, webhook, options }: { push: unknown; webhook: boolean; options: CallThread },
): Intent {
  const { contextId, nativeTaskId, operationOf, questions } = options;
  const thread = { ...(contextId !== undefined && { contextId }), nativeTaskId, operationOf, questions };
  const kept = { idempotencyKey, tool, args, release, pinBy, at, webhook, thread };
  return { ...kept, ...(isJsonObject(push) && { push }) };
}

export interface Intents {
  /** @returns why it could not be: the request must not leave then */
  keep(intent: Intent): Promise<LocalError | undefined>;
  /** What was answered meanwhile; a store that is away is told in the log, since the call itself goes on. */
  note(intent: Intent): Promise<void>;
  /** The call has ended: nothing is to be repeated. */
  drop(idempotencyKey: string): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly Intent[]>;
}

export function createIntents({ intents: store, intentsOf: owner, logger }: BuyerSettings): Intents | undefined {
  if (store === undefined) return undefined;
  const put = (id: string, intent: Intent | undefined): Promise<void> => {
    const body = intent === undefined ? undefined : JSON.stringify(intent);
    return store.commit([{ collection: INTENTS, owner, id, version: undefined, body }]);
  };
  const quietly = async (id: string, intent: Intent | undefined): Promise<void> => {
    try {
      await put(id, intent);
    } catch (error) {
      logger?.warn(
        { err: error, idempotencyKey: id },
        "an intent could not be changed; it will be repeated under its key",
      );
    }
  };
  return {
    async keep(intent) {
      try {
        await put(intent.idempotencyKey, intent);
        return undefined;
      } catch (error) {
        const why = error instanceof Error ? error.message : error;
        return localError("INTENT_NOT_KEPT", `The call could not be kept, so it was not made: ${why}`, "transient");
      }
    },
    note: (intent) => quietly(intent.idempotencyKey, intent),
    drop: (key) => quietly(key, undefined),
    list: async () => (await store.list(INTENTS, owner)).map(({ body }) => JSON.parse(body) as Intent),
  };
}

/** A task that is known need not be asked for by its call: it is waited for, as one that was just taken in. */
export function keptTask(
  { taskId, nativeTaskId, contextId }: Intent,
  release: Release | undefined,
): ExchangeResult | undefined {
  if (taskId === undefined || release === undefined) return undefined;
  const conversation = contextId === undefined ? {} : { contextId };
  const data = { status: "submitted", task_id: taskId };
  const told = { payload: null, recovery: undefined, lost: false, taskId, nativeTaskId };
  return { answer: { status: "submitted", data, taskId, ...conversation }, ...told };
}

/**
 * A fault here, such as a webhook that cannot be registered, as what became of a call that was kept: those after it are carried on.
 * @throws the fault itself, of any other call
 */
export function thrownAgain(error: unknown, again: Intent | undefined): ExchangeResult {
  if (again === undefined) throw error;
  const why = error instanceof Error ? error.message : String(error);
  const message = `It could not be made again: ${why}`;
  return failedHere(localError("INTENT_NOT_REPEATABLE", message, "terminal"), { lost: true });
}

/** Why a call that was kept is not made again; undefined where it may be. */
export function notRepeatable({
  release,
  version,
  pinned,
  ageMs,
}: {
  release: Release | undefined;
  version: string;
  pinned: PinnedRelease;
  ageMs: number;
}): ProtocolError | undefined {
  const why = (message: string): ProtocolError => localError("INTENT_NOT_REPEATABLE", message, "terminal");
  if (release === undefined) return why(`It was made in release ${version}, which this buyer no longer speaks`);
  if (!pinned.idempotent) return why("The agent keeps no keys: read its state, and drop the intent or call anew");
  const keptS = member(member(member(pinned.capabilities, release.word), "idempotency"), "replay_ttl_seconds");
  if (typeof keptS !== "number" || ageMs < keptS * 1_000) return undefined;
  return why("The agent has let the key go by now: read its state, and drop the intent or call anew");
}
