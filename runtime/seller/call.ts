/** One call, whatever transport it came by: negotiated, validated, recognised, handled, recorded, answered. */
import {
  type AnyTool,
  isJsonObject,
  isTerminal,
  type JsonObject,
  type ProtocolError,
  type TaskStatus,
} from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { onFreshDocuments } from "../store/documents.js";
import type { SellerDatabase } from "../store/seller-tables.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import type { Call, CallAnswer } from "../transport/answerer.js";
import { checkedAnswer, isDeclined } from "./answer.js";
import { audited } from "./audit.js";
import type { AnsweredCall, CallPlug } from "./call-plug.js";
import { type Aftermath, createContext } from "./context.js";
import { continuedTask, threadMember } from "./continuation.js";
import { echo, failedCall, refusalErrors, toldFailure, unknownTool } from "./failed-call.js";
import { type Claim, claimKey, type IdempotencyOptions, keyIn, keyOf, requestHash } from "./idempotency.js";
import { namedAccount } from "./named-account.js";
import { freesTaskIds } from "./ordered-tasks.js";
import { channelsOf, checkChannels, registeredArgs } from "./registrations.js";
import { checkReply, openMembers, statusMember, versionMember } from "./reply.js";
import { negotiate, type ServedRelease, type ServedTool } from "./served-releases.js";
import type { SellerSettings } from "./settings.js";
import { unfinishedTask } from "./task-changes.js";
import type { TaskRepository } from "./tasks.js";
import { invalidRequest, ToolError } from "./tool-error.js";
import { tracedCall } from "./tracing.js";
import { unkeptValue } from "./unkept.js";

export interface SellerCallDependencies<Tx> {
  readonly plug: CallPlug<Tx>;
  readonly settings: SellerSettings<Tx>;
  readonly servedReleases: readonly ServedRelease<Tx>[];
  readonly database: SellerDatabase<Tx>;
  readonly repository: TaskRepository<Tx>;
  readonly idempotency: IdempotencyOptions<Tx>;
}

/** Answers a call. It never throws: what goes wrong is the answer. */
export async function answerCall<Tx>(dependencies: SellerCallDependencies<Tx>, call: Call): Promise<CallAnswer> {
  const { settings, servedReleases } = dependencies;
  const began = performance.now();
  const called = await tracedCall(settings.tracer, call, () => answerOf(dependencies, call));
  // Names nobody serves are the caller's invention, and would be labels without end.
  const tool = servedReleases.map(({ tools }) => tools.get(call.tool)?.name).find((name) => name !== undefined);
  const { status, payload, failed: isFailure } = called;
  const [error] = isFailure && Array.isArray(payload.errors) ? (payload.errors as ProtocolError[]) : [];
  const { transport } = call;
  const counted = {
    tool: tool ?? "unknown",
    transport,
    status,
    code: error?.code,
    replayed: payload.replayed === true,
  };
  const ms = performance.now() - began;
  settings.metrics.answered(counted, ms);
  const mutating = servedReleases.some(({ tools }) => tools.get(call.tool)?.tool.mutating === true);
  await audited(settings, call, called, { mutating, tool: counted.tool, code: error?.code, ms });
  return called;
}

async function answerOf<Tx>(dependencies: SellerCallDependencies<Tx>, call: Call): Promise<CallAnswer> {
  const args = isJsonObject(call.args) ? call.args : {};
  const taskId = dependencies.settings.uuid();
  let servedRelease: ServedRelease<Tx> | undefined;
  try {
    if (call.args !== undefined && !isJsonObject(call.args)) {
      throw new ToolError("INVALID_REQUEST", "The arguments of a tool are an object.");
    }
    servedRelease = negotiate(dependencies.servedReleases, args);
    const served = servedRelease.tools.get(call.tool);
    if (served === undefined) throw unknownTool(call.tool, servedRelease.release);
    return await new Invocation(dependencies, call, { args, taskId, servedRelease, served }).run();
  } catch (error) {
    const newest = dependencies.servedReleases[0]!.release;
    return failedCall(dependencies.settings, { error, args, servedRelease, newest, call, taskId });
  }
}

interface Prepared<Tx> {
  readonly args: JsonObject;
  readonly taskId: string;
  readonly servedRelease: ServedRelease<Tx>;
  readonly served: ServedTool<Tx>;
}

class Invocation<Tx> {
  /** The task that the call goes on with. */
  private continued: SellerTaskRow | undefined;
  private readonly accountNamed: () => Promise<JsonObject | undefined>;

  constructor(
    private readonly dependencies: SellerCallDependencies<Tx>,
    private readonly call: Call,
    private readonly at: Prepared<Tx>,
  ) {
    const of = { principal: call.identity.principal, release: at.servedRelease.release };
    this.accountNamed = namedAccount(dependencies.settings.accountNamed, at.args, of);
  }

  async run(): Promise<CallAnswer> {
    const { args, servedRelease, served } = this.at;
    const { tool } = served;
    const unkept = unkeptValue(args);
    if (unkept !== undefined) throw invalidRequest([unkept]);
    if (!served.builtIn || Object.hasOwn(servedRelease.release.tools, tool.name)) {
      const judged = servedRelease.validator.request(tool.name, args);
      if (!judged.ok && !this.leftToHandler(judged.errors)) throw invalidRequest(judged.errors);
    }
    checkChannels(this.dependencies, this.call, this.at);
    const key = keyOf(tool, args);
    if (key === undefined) return this.handle(undefined);
    const { principal } = this.call.identity;
    const of = { principal, key: keyIn(await this.accountNamed(), key), hash: requestHash(tool.name, args) };
    const claimed = await claimKey(this.dependencies.idempotency, of);
    if (claimed.kind === "replay") return this.replay(claimed.answer);
    return this.underClaim(claimed.claim);
  }

  /** Whether all that is wrong with the request is for the handler to judge. */
  private leftToHandler(errors: readonly { readonly pointer: string }[]): boolean {
    const { unchecked, judgedByHandler } = this.dependencies.settings;
    const { name } = this.at.served.tool;
    if (unchecked.has(name)) return true;
    // Of its own: every object has something called constructor, as a tool may be.
    const left = Object.hasOwn(judgedByHandler, name) ? judgedByHandler[name]! : [];
    const places = left.map((one) => one.split("/"));
    const isBelow = (pointer: string): boolean => {
      const at = pointer.split("/");
      return places.some((steps) => steps.every((key, index) => key === "*" || key === at[index]));
    };
    return errors.every(({ pointer }) => isBelow(pointer));
  }

  private replay(stored: JsonObject): CallAnswer {
    const { status, task_id: taskId, payload } = stored as { status: TaskStatus; task_id: string; payload: JsonObject };
    // Stored without what belongs to one call only.
    return { status, payload: { ...payload, ...this.envelope(), replayed: true }, failed: false, taskId };
  }

  private async underClaim(claim: Claim<Tx>): Promise<CallAnswer> {
    let answered: CallAnswer | undefined;
    try {
      answered = await this.handle(claim);
      return answered;
    } finally {
      await claim.stop();
      // A failure is not remembered; where releasing fails too, the lease runs out.
      if (answered === undefined || answered.failed) await claim.release().catch(() => undefined);
    }
  }

  private envelope(): JsonObject {
    const { args, servedRelease, served } = this.at;
    const key = keyOf(served.tool, args);
    return openMembers(servedRelease.release, served.tool.name, {
      ...echo(args),
      // A caller that retries sees which of its tries this answers.
      ...(key !== undefined && { idempotency_key: key }),
      ...versionMember(servedRelease, args),
    });
  }

  /** A call whose documents another one changed meanwhile is done again, on what is there now. */
  private handle(claim: Claim<Tx> | undefined): Promise<CallAnswer> {
    return onFreshDocuments(() => this.attempt(claim));
  }

  private get taskId(): string {
    return this.continued?.task_id ?? this.at.taskId;
  }

  private async attempt(claim: Claim<Tx> | undefined): Promise<CallAnswer> {
    const { args, served, servedRelease } = this.at;
    // Looked for under the key: a call that is repeated is answered as it was, whatever has become of its task.
    this.continued = await continuedTask(
      (id) => this.dependencies.repository.row(id, this.call.identity.principal),
      this.call,
      this.at,
    );
    const { taskId } = this;
    // The handler's own copy: what is kept, told and tried again is the request as it came, whatever becomes of that one.
    const request = structuredClone(args);
    const { ctx, after } = createContext<Tx>(this.contextBase(request));
    const reply: unknown = await served.handle(request, ctx);
    const { status, data } = checkReply(reply, served.tool);
    const declined = status === "rejected" && isDeclined(servedRelease, served.tool, data, this.envelope());
    if (status === "failed" || (status === "rejected" && !declined) || status === "canceled") {
      const errors = refusalErrors(data, taskId, servedRelease.release);
      const failure = toldFailure(this.dependencies.settings, this.call, errors, servedRelease.release);
      const payload = { status, ...data, ...echo(args), ...versionMember(servedRelease, args), ...failure };
      // A failure leaves the question open; the other two end the task that asked it.
      if (status !== "failed") await this.end(status, payload);
      return { status, payload, failed: true, taskId };
    }
    const interim = !isTerminal(status);
    const named = interim && this.continued === undefined && typeof data.task_id === "string" ? data.task_id : "";
    const id = named || taskId;
    const full = await this.dependencies.plug.complete(this.answered(data));
    const payload = checkedAnswer(this.dependencies.settings, servedRelease, served, {
      status,
      payload: {
        ...statusMember(servedRelease, served.tool.name, status),
        ...full,
        ...(interim && { task_id: id }),
        ...(status === "input-required" && threadMember(this.call, servedRelease.release, id)),
        ...this.envelope(),
      },
    });
    await this.record({ claim, after, status, payload, id });
    return { status, payload, failed: false, taskId: id };
  }

  /** Ends the task that the call went on with, if it did. */
  private async end(status: TaskStatus, payload: JsonObject): Promise<void> {
    const { continued, dependencies } = this;
    if (continued === undefined) return;
    const change = { status, data: payload, request: this.at.args, askedAt: continued.updated_at };
    await dependencies.database.transact({ principal: continued.principal }, (tx) =>
      dependencies.repository.advance(tx, continued.task_id, change),
    );
  }

  private answered(payload: JsonObject): AnsweredCall {
    const { args, served, servedRelease } = this.at;
    const of = { tool: served.tool.name, principal: this.call.identity.principal };
    return { ...of, release: servedRelease.release.version, args: registeredArgs(this.call, args), payload };
  }

  private contextBase(args: JsonObject) {
    const { settings, repository } = this.dependencies;
    const { principal } = this.call.identity;
    const { mode, store, sender, now, uuid, logger } = settings;
    return {
      ...{ mode, store, sender, now, uuid, logger, principal },
      tool: this.at.served.tool.name,
      transport: this.call.transport,
      release: this.at.servedRelease.release,
      account: isJsonObject(args.account) ? args.account : undefined,
      accountNamed: this.accountNamed,
      idempotencyKey: typeof args.idempotency_key === "string" ? args.idempotency_key : undefined,
      taskId: this.taskId,
      continues: this.continued && unfinishedTask(this.continued),
      ...freesTaskIds((id, ordered) => repository.free(id, { principal, ordered })),
      task: <T = AnyTool>(id: string) => repository.handle<T>(id, principal),
    };
  }

  /** Everything a call leaves behind, in one transaction; nothing is opened for a call that leaves nothing. */
  private async record(done: {
    claim: Claim<Tx> | undefined;
    after: Aftermath<Tx>;
    status: TaskStatus;
    payload: JsonObject;
    id: string;
  }): Promise<void> {
    const { claim, after, status, payload, id } = done;
    const { repository, database, plug } = this.dependencies;
    const { served, servedRelease } = this.at;
    const { release, names } = servedRelease;
    const { call, continued } = this;
    const args = registeredArgs(call, this.at.args);
    const interim = !isTerminal(status);
    const keeps = status === "completed" && plug.keeps(served.tool.name, args);
    if (claim === undefined && after.effects.length === 0 && !interim && !keeps && continued === undefined) return;
    const { context: _context, idempotency_key: _key, [names.version]: _version, ...kept } = payload;
    const channels = channelsOf(call, args);
    const answered = this.answered(payload);
    const { principal } = call.identity;
    const { later: work } = after;
    const account = interim ? await this.accountNamed() : undefined;
    const run = interim && work ? repository.later({ taskId: id, principal, tool: served.tool, work }) : undefined;
    const hold = run?.hold;
    await database.transact({ principal }, function* (tx): Coroutine<void> {
      if (claim !== undefined) yield* claim.answer(tx, { status, task_id: id, payload: kept });
      for (const effect of after.effects) yield* wait(effect(tx));
      if (continued !== undefined) {
        const { updated_at: askedAt } = continued;
        yield* repository.advance(tx, id, { status, data: kept, request: args, channels, askedAt, hold });
      } else if (interim)
        yield* repository.open(tx, {
          ...{ id, call, args, account },
          tool: served.tool,
          release,
          status,
          payload: kept,
          channels,
          hold,
        });
      if (keeps && continued === undefined) yield* plug.keep(tx, answered);
    });
    run?.begin();
  }
}
