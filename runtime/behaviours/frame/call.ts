/** One call as a behaviour sees it: who asks, the documents, the seller's ports, and what the release says of answers. */
import type { AnyTool, JsonObject, MaybePromise, Release } from "../../contract/index.js";
import type { SellerContext, SellerStore, TaskHandle } from "../../seller/types.js";
import { type DocumentChange, type DocumentStore, onFreshDocuments } from "../../store/documents.js";
import type { Ports } from "../ports/index.js";
import { type Documents, EVERYBODY, openDocuments } from "./documents.js";
import { effectsInTurn } from "./effects.js";
import { type AnswerShape, type AnswerShapes, shapesOf } from "./shape.js";
import type { UpstreamRecorder } from "./upstream.js";

/** What does not change from call to call. */
export interface BehaviourSettings {
  /** This seller as others name it: the address of its MCP endpoint. */
  readonly agentUrl: string;
  readonly name: string;
  readonly mode: "development" | "production";
  readonly ports: Ports;
  readonly store: DocumentStore<object>;
  /** What the seller signs with; the public part is published. */
  readonly signing: { readonly key: object; readonly keyid: string };
  /** What answers are signed with that have to be believed by others; its public part is published for that. */
  readonly responses?: { readonly key: object; readonly keyid: string };
  /** Where all state is, the documents among it. */
  readonly place: SellerStore;
  /** What ports send over HTTP; in development, where one of them does. */
  readonly upstream?: UpstreamRecorder;
  /** The areas that are served; a behaviour may ask whether a neighbour is there. */
  readonly served: ReadonlySet<string>;
  /** What the seller says that it can do, by version of a release. */
  readonly declarations: ReadonlyMap<string, JsonObject>;
}

/** What the runtime knows of a call, whatever its tool. */
export type CallFacts = Pick<
  SellerContext<AnyTool, object>,
  "principal" | "release" | "mode" | "sender" | "now" | "uuid" | "logger" | "effect"
> & {
  readonly task?: TaskOf;
  readonly account?: JsonObject | undefined;
};

/** A task of the caller's; work that nobody called for changes tasks as the seller does. */
export type TaskOf = (taskId: string) => TaskHandle<never, never>;

/** A call of any tool, or work on a principal's behalf that nobody called for. */
export interface BehaviourCall extends BehaviourSettings {
  readonly documents: Documents;
  readonly ctx: CallFacts;
  readonly principal: string;
  readonly release: Release;
  readonly shapes: AnswerShapes;
  /** What the seller says that it can do, to who asks in this release. */
  readonly declared: JsonObject;
  /** The instant of the call; the same throughout, so that all it writes has one time. */
  readonly now: Date;
  /** `now`, as the wire has it. */
  readonly time: string;
  readonly task: TaskOf;
  /** A new id such as `mb_3f0c...`. */
  id(prefix: string): string;
  /** What is asked for once in a call, however many want it. */
  once<T>(key: string, find: () => Promise<T>): Promise<T>;
}

/** What an answer comes to: a status and its data. */
export interface BehaviourReply {
  readonly status: string;
  readonly data: JsonObject;
}

/** A call of one tool. */
export interface BehaviourToolCall extends BehaviourCall {
  readonly tool: string;
  readonly context: SellerContext<AnyTool, object>;
  /** What the release says of this tool's answer. */
  readonly shape: AnswerShape;
  /** The tool is done: what the release has a place for is answered. */
  answer(data: object): BehaviourReply;
}

/** Opens a call; what it writes commits with its answer. */
export async function openToolCall(
  settings: BehaviourSettings,
  tool: string,
  context: SellerContext<AnyTool, object>,
): Promise<BehaviourToolCall> {
  const call = await openCall(settings, context);
  const shape = call.shapes.answer(tool);
  return { ...call, tool, context, shape, answer: (data) => ({ status: "completed", data: shape.fit(data) }) };
}

async function openCall(settings: BehaviourSettings, ctx: CallFacts): Promise<BehaviourCall> {
  const documents = openDocuments(settings.store);
  const now = new Date(ctx.now());
  const found = new Map<string, Promise<unknown>>();
  return {
    ...settings,
    documents,
    ctx,
    principal: ctx.principal,
    release: ctx.release,
    shapes: await shapesOf(ctx.release),
    declared: settings.declarations.get(ctx.release.version) ?? {},
    now,
    time: now.toISOString(),
    task(taskId) {
      if (ctx.task === undefined) throw new Error("work that nobody called for has no tasks");
      return ctx.task(taskId);
    },
    id: (prefix) => `${prefix}_${ctx.uuid().replaceAll("-", "").slice(0, 20)}`,
    once<T>(key: string, find: () => Promise<T>): Promise<T> {
      const known = found.get(key) ?? find();
      found.set(key, known);
      return known as Promise<T>;
    },
  };
}

/**
 * What a call has written that belongs into the transaction of its answer. On several databases what is everybody's is in
 * another, and is written first: it is made once under an id of its own, and harms nobody where the answer is never given.
 */
export async function ownChanges(
  { store, place }: Pick<BehaviourSettings, "store" | "place">,
  { documents }: Pick<BehaviourCall, "documents">,
): Promise<DocumentChange[]> {
  const changes = documents.changes();
  if (!("principals" in place)) return changes;
  const everybodys = changes.filter(({ owner }) => owner === EVERYBODY);
  if (everybodys.length > 0) await store.commit(everybodys);
  return changes.filter(({ owner }) => owner !== EVERYBODY);
}

/** Commits what work on somebody's behalf came to: `write` belongs into one transaction. */
export type StandingCommit<T> = (write: (tx: object) => MaybePromise<void>, result: T) => Promise<void>;

/**
 * Does work on a principal's behalf that no answer waits for, and commits what it wrote; on what is there now where another
 * call changed it meanwhile. Effects of it are part of the same transaction.
 * @param commit where it belongs into a transaction of somebody else's
 */
export const standingCall = <T>(
  settings: BehaviourSettings,
  facts: Omit<CallFacts, "effect">,
  work: (call: BehaviourCall) => Promise<T>,
  commit?: StandingCommit<T>,
): Promise<T> =>
  onFreshDocuments(async () => {
    const { store } = settings;
    const effects: Parameters<CallFacts["effect"]>[0][] = [];
    const call = await openCall(settings, { ...facts, effect: (effect) => void effects.push(effect) });
    const { upstream } = settings;
    const result = await (upstream === undefined ? work(call) : upstream.within(call.principal, () => work(call)));
    const changes = await ownChanges(settings, call);
    if (commit !== undefined) await commit(effectsInTurn([(tx) => store.write(tx, changes), ...effects]), result);
    else if (changes.length + effects.length > 0) await store.commit(changes, effects, facts.principal);
    return result;
  });
