/**
 * What a buyer was about to do, kept before it does it: a call's key and payload are stored before the request leaves, so that
 * who starts again after a crash repeats the same call instead of making another.
 */
import type { Answer, AnyArms, JsonObject, ProtocolError, Release } from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import type { CallThread } from "./call-thread.js";
import { type ExchangeResult, failedHere } from "./exchange.js";
import { localError } from "./fault.js";
import type { Intent } from "./intent.js";
import { intentRows } from "./intent-rows.js";
import type { PinnedRelease } from "./negotiation.js";
import type { BuyerSettings } from "./settings.js";
import type { LocalError } from "./types.js";

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
  { question: _, ...intent }: Intent,
  { status, data, message }: Answer<AnyArms>,
  { taskId, nativeTaskId, answer }: ToldOfCall,
): Intent => ({
  ...{ ...intent, status },
  ...(status === "input-required" && { question: { data, ...(message !== undefined && { message }) } }),
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
  }: Pick<Intent, "idempotencyKey" | "tool" | "args" | "release" | "pinBy" | "at">,
  { push, webhook, options }: { push: unknown; webhook: boolean; options: CallThread },
): Intent {
  const { contextId, nativeTaskId, operationOf, questions } = options;
  const thread = { ...(contextId !== undefined && { contextId }), nativeTaskId, operationOf, questions };
  const kept = { idempotencyKey, tool, args, release, pinBy, at, webhook, thread };
  return { ...kept, ...(isJsonObject(push) && { push }) };
}

export interface Intents {
  /**
   * @param asked the call whose question it answers
   * @returns whether it is kept: what answers a question is not, where another process has carried that call to its end; or why it
   * could not be: the request must not leave then
   */
  keep(intent: Intent, asked: string | undefined): Promise<LocalError | boolean>;
  /**
   * What was answered meanwhile; a store that is away is told in the log, since the call itself goes on.
   * @param instead the call that goes on as this one, and is let go with it
   * @returns false where it is kept no more: another process has carried it to its end
   */
  note(intent: Intent, instead: string | undefined): Promise<boolean>;
  /**
   * The call has ended: nothing is to be repeated. Its effect commits with that, in one process only.
   * @returns false where it was kept no more
   */
  end(intent: Intent, end: Answer<AnyArms>, instead: string | undefined): Promise<boolean>;
  /** The answer to a question was refused: the call that asks does so still. */
  refuse(intent: Intent, asks: string): Promise<void>;
  /** Nothing of it is to be repeated, and nobody is to be told. */
  drop(idempotencyKey: string): Promise<void>;
  /** As it is kept now. */
  get(idempotencyKey: string): Promise<Intent | undefined>;
  /** Oldest first. */
  list(): Promise<readonly Intent[]>;
}

export function createIntents({ intents: store, intentsOf: owner, ended, logger }: BuyerSettings): Intents | undefined {
  if (store === undefined) return undefined;
  const rows = intentRows(store, owner);
  const quietly = async <T>(id: string, job: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await job();
    } catch (error) {
      logger?.warn(
        { err: error, idempotencyKey: id },
        "an intent could not be changed; it will be repeated under its key",
      );
      return undefined;
    }
  };
  return {
    async keep(intent, asked) {
      try {
        return await (asked === undefined ? rows.put(intent) : rows.putAnswer(intent, asked));
      } catch (error) {
        const why = error instanceof Error ? error.message : error;
        return localError("INTENT_NOT_KEPT", `The call could not be kept, so it was not made: ${why}`, "transient");
      }
    },
    async note(intent, instead) {
      const { idempotencyKey: key } = intent;
      return (await quietly(key, () => rows.change(key, JSON.stringify(intent), { instead }))) ?? true;
    },
    async end(intent, end, instead) {
      const { idempotencyKey: key } = intent;
      const over = async (): Promise<boolean> => {
        const effect = await ended?.(intent, end);
        return rows.change(key, undefined, { instead, effect });
      };
      return (await quietly(key, over)) ?? true;
    },
    async refuse({ idempotencyKey: key }, asks) {
      await quietly(key, () => rows.change(key, undefined, { instead: undefined, refused: asks }));
    },
    async drop(key) {
      await quietly(key, () => rows.remove(key));
    },
    get: rows.get,
    list: rows.list,
  };
}

/** A task that is known need not be asked for by its call: it is waited for, as one that was just taken in. */
export function keptTask(
  { taskId, nativeTaskId, contextId }: Pick<ToldOfCall, "nativeTaskId"> & Partial<Pick<Intent, "taskId" | "contextId">>,
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
