/** One call of a tool: agreed, keyed, registered, sent, repeated where that is safe and of use. */
import {
  type Answer,
  type AnyArms,
  type AnyTool,
  dispatch,
  type Handlers,
  isTerminal,
  type JsonObject,
  type Release,
} from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { questionSince } from "./asked-since.js";
import { repeat } from "./attempts.js";
import { type BuyerCallDependencies, type CallingOptions, timed } from "./call-dependencies.js";
import { carriedOn, inputFor } from "./carry-on.js";
import { type ExchangeResult, failedHere, firstError } from "./exchange.js";
import { endedCall } from "./fault.js";
import type { Intent } from "./intent.js";
import { keptTask, notRepeatable, thrownAgain } from "./intents.js";
import { KeptCall } from "./kept-call.js";
import { isCapabilitiesTool, type PinnedRelease, speaksAnother } from "./negotiation.js";
import { type PinBy, pinOf } from "./pin.js";
import { type RegisteredPush, refusesWebhook, registerWebhook, withOperations } from "./push.js";
import { noSuchTool, type Routed, routed } from "./route.js";
import type { CallOptions, CallResult, CompletionOptions, RespondOptions, TaskEnd } from "./types.js";
import { isUnknown, questionAnswered, waitForCompletion } from "./wait-for-completion.js";

export class ToolInvocation {
  /** The key all attempts have. */
  readonly key: string | undefined;
  /** Answers to questions of its task that its agent has taken. */
  given = 0;
  private readonly options: CallingOptions;
  /** Another call may have gone before under its key, or as the same operation. */
  private readonly shared: boolean;
  private readonly late: AbortSignal | undefined;
  private registered: RegisteredPush | undefined;
  private release: Release;
  private pinBy: PinBy = "nothing";
  private attempts = 0;
  private revised = false;
  private readonly kept: KeptCall;
  private request: JsonObject;

  constructor(
    private readonly dependencies: BuyerCallDependencies,
    private readonly name: string,
    request: JsonObject,
    options: CallingOptions,
  ) {
    [this.options, this.late] = timed(options);
    this.kept = new KeptCall(dependencies.intents, this.options);
    [this.release] = dependencies.settings.releases as [Release];
    const { idempotency, mutating } = this.toolOf(this.release) ?? { idempotency: "none", mutating: false };
    const given = request.idempotency_key;
    const keyed = idempotency === "required" || (idempotency === "optional" && mutating);
    this.key = typeof given === "string" ? given : keyed ? dependencies.settings.uuid() : undefined;
    this.shared = typeof given === "string" || options.operationOf !== undefined;
    this.request = request;
  }

  /** False where it was kept, and another process has carried it to its end. */
  get isOurs(): boolean {
    return this.kept.isOurs;
  }

  private get operationKey(): string | undefined {
    return this.options.operationOf === undefined ? this.key : this.options.operationOf.key;
  }

  private toolOf(release: Release): AnyTool | undefined {
    return Object.hasOwn(release.tools, this.name) ? release.tools[this.name] : undefined;
  }

  async run(): Promise<CallResult<AnyArms>> {
    try {
      const made = await this.answer();
      return "waitForCompletion" in made ? made : this.called(made);
    } catch (error) {
      if (!this.options.signal?.aborted) return this.called(thrownAgain(error, this.options.again));
      // What has been sent may be done all the same, and told of.
      if (this.attempts === 0) await this.registered?.forget();
      return this.called(failedHere(endedCall(this.late?.aborted === true), { lost: this.attempts > 0 }));
    }
  }

  /** What the agent answered, or what the call became instead. */
  private async answer(): Promise<ExchangeResult | CallResult<AnyArms>> {
    const { settings, negotiation } = this.dependencies;
    const { signal } = this.options;
    signal?.throwIfAborted();
    this.request = await withOperations(this.request, this.operationKey, settings);
    if (this.options.again !== undefined) return this.repeated(this.options.again);
    if (isCapabilitiesTool(this.name, settings.names)) return this.asked(negotiation.known());
    const result = await negotiation.get(signal);
    if (!result.ok) return result.failure;
    const { pinned } = result;
    const route = routed({ ...settings, name: this.name, negotiated: pinned });
    if (route.kind === "own") return this.asked(pinned);
    this.release = pinned.release;
    if (route.kind === "refused") return failedHere(route.error);
    return this.elsewhere(route, pinned);
  }

  /** A call that was kept is made again as it was, if its agent still knows the key and still serves the release. */
  private async repeated(again: Intent): Promise<ExchangeResult | CallResult<AnyArms>> {
    const { settings, negotiation } = this.dependencies;
    const result = await negotiation.get(this.options.signal);
    if (!result.ok) return result.failure;
    const release = settings.releases.find(({ version }) => version === again.release);
    const { release: version, pinBy, at } = again;
    const refusal = notRepeatable({ release, version, pinned: result.pinned, ageMs: settings.now() - at });
    if (refusal === undefined) return this.asked({ ...result.pinned, release: release!, pinBy });
    [this.release, this.pinBy] = [release ?? this.release, pinBy];
    const task = keptTask(again, release);
    const tool = this.toolOf(this.release);
    if (task === undefined || tool === undefined) return failedHere(refusal, { lost: true });
    await this.register(tool);
    return this.since(tool, task);
  }

  /** The call by what stands in for its tool. Its key is of that tool: none is replayed under two names. */
  private async elsewhere(
    route: Exclude<Routed, { kind: "own" | "refused" }>,
    negotiated: PinnedRelease,
  ): Promise<CallResult<AnyArms>> {
    const { dependencies, options, request } = this;
    const call = (tool: string, asked: JsonObject, more: CallOptions = options): Promise<CallResult<AnyArms>> =>
      new ToolInvocation(dependencies, tool, asked, more).run();
    dependencies.settings.logger?.info({ tool: this.name, route: route.kind }, "the agent lacks a tool");
    return route.kind === "direct" ? call(route.tool, request) : route.adapter(request, { call, options, negotiated });
  }

  private async asked(pinned: PinnedRelease | undefined): Promise<ExchangeResult | CallResult<AnyArms>> {
    const { settings, negotiation, validation } = this.dependencies;
    this.release = pinned?.release ?? this.release;
    this.pinBy = pinned?.pinBy ?? "nothing";
    const tool = this.toolOf(this.release);
    if (tool === undefined) return failedHere(noSuchTool(this.release, this.name));
    const { again, signal } = this.options;
    const asking = again?.args ?? this.argsFor();
    const refused = await validation.request(this.release, tool, asking);
    if (refused !== undefined) return failedHere(refused);
    // What was let go once goes again as it was.
    const free = again !== undefined || settings.governance === undefined;
    const call = { tool, release: this.release, args: asking, signal };
    const checked = free ? undefined : await (await import("./governance.js")).governed(settings, call);
    if (checked?.ok === false) return failedHere(checked.error);
    const args = checked?.args ?? asking;
    await this.register(tool);
    const unkept = await this.keep(tool, args);
    if (unkept !== undefined) return unkept;
    const outcome = await this.sent(tool, args, pinned);
    const error = firstError(outcome);
    if (await speaksAnother(negotiation, outcome, { release: this.release, signal, tried: this.revised })) {
      this.revised = true;
      await this.registered?.forget();
      // Nothing was done, and there may be no release to call in.
      if (!outcome.lost) await this.kept.forget();
      return this.answer();
    }
    if (this.registered !== undefined && refusesWebhook(error)) {
      // A seller may decline webhooks; polling does for both.
      settings.logger?.info({ tool: tool.name, code: error?.code }, "the agent declines webhooks");
      await this.registered.forget();
      this.registered = undefined;
      // What is made again after a crash is what went last.
      return (await this.keep(tool, args)) ?? this.finished(tool, await this.sent(tool, args, pinned));
    }
    return this.finished(tool, outcome);
  }

  private argsFor(): JsonObject {
    // Where a registration goes is the transport's to say.
    const { push_notification_config: _, ...request } = this.request;
    const pin = pinOf(this.release, this.name, this.pinBy);
    return { ...pin, ...request, ...(this.key !== undefined && { idempotency_key: this.key }) };
  }

  private async register(tool: AnyTool): Promise<void> {
    if (this.options.webhook === false || this.request.push_notification_config !== undefined) return;
    const { operationKey: key, release, shared } = this;
    this.registered = await registerWebhook(this.dependencies.settings, { tool, release, key, shared });
  }

  /** @returns why nothing is sent: what cannot be kept is not done */
  private async keep(tool: AnyTool, args: JsonObject): Promise<ExchangeResult | undefined> {
    const { intents, settings } = this.dependencies;
    if (intents === undefined || this.key === undefined || !tool.mutating) return undefined;
    const { release, pinBy, name: called, options } = this;
    const at = options.again?.at ?? settings.now();
    const call = { idempotencyKey: this.key, tool: called, args, release: release.version, pinBy, at };
    const { push_notification_config: push } = this.request;
    const error = await this.kept.keep(call, { push, webhook: this.registered !== undefined });
    if (error === undefined) return undefined;
    await this.registered?.forget();
    return failedHere(error);
  }

  private async sent(tool: AnyTool, args: JsonObject, pinned: PinnedRelease | undefined): Promise<ExchangeResult> {
    const { settings, exchange } = this.dependencies;
    const { signal, contextId, nativeTaskId: taskId } = this.options;
    // A lost answer may be asked for again where doing it twice does nothing, or the agent knows the key again.
    const repeatable =
      !tool.mutating || tool.idempotency === "exempt" || (this.key !== undefined && pinned?.idempotent === true);
    const own = this.request.push_notification_config;
    const push = this.registered?.config ?? (isJsonObject(own) ? own : undefined);
    const { outcome, attempts } = await repeat(
      settings,
      { signal, mayRepeat: ({ lost }) => !lost || repeatable, unheard: this.options.again !== undefined },
      () => {
        this.attempts += 1;
        return exchange.send(tool, this.release, { args, push, contextId, taskId, signal });
      },
    );
    settings.logger?.debug({ tool: tool.name, status: outcome.answer.status, attempts }, "called");
    return outcome;
  }

  private since(tool: AnyTool, outcome: ExchangeResult): Promise<ExchangeResult> {
    const { release, pinBy, request, registered, options } = this;
    const of = { tool, release, pinBy, account: request.account, operationId: registered?.operationId };
    return questionSince(this.dependencies, outcome, { ...of, again: options.again, signal: options.signal });
  }

  private async finished(tool: AnyTool, told: ExchangeResult): Promise<ExchangeResult> {
    await this.dependencies.validation.answer(this.release, tool, told);
    const outcome = await this.since(tool, told);
    const { status } = outcome.answer;
    // After a lost answer the agent may be at work: its webhook is still expected. A task that was gone on with tells of it, too.
    const open = outcome.lost || this.options.operationOf !== undefined;
    if (isTerminal(status) && !open) await this.registered?.ended(status);
    await this.kept.answered(outcome);
    return outcome;
  }

  /** Goes on with a task that asks something: its question is the call's own answer, or what its task has come to since. */
  private async respond(
    question: Answer<AnyArms>,
    nativeTaskId: string | undefined,
    { input, options }: { input: JsonObject; options: RespondOptions },
  ): Promise<CallResult<AnyArms>> {
    const { transport } = await this.dependencies.exchange.connection(options.signal);
    const { name, release, request } = this;
    const tool = this.toolOf(release);
    const next = await carriedOn({ name, tool, release, transport, request, question, nativeTaskId, input, of: this });
    if (!next.ok) return this.called(failedHere(next.error));
    const conversation = question.contextId === undefined ? {} : { contextId: question.contextId };
    questionAnswered(this.dependencies, question);
    const operationOf = { key: this.operationKey, answers: this.key, given: this.given, taskId: question.taskId };
    const questions = (this.options.questions ?? 0) + 1;
    const more = { ...options, nativeTaskId, questions, operationOf, ...conversation };
    const called = await new ToolInvocation(this.dependencies, name, next.request, more).run();
    if (called.answer.status !== "failed") this.given += 1;
    return called;
  }

  /** What came of a question that the application has an answer to; undefined where it is for a person. */
  private async answered(
    question: TaskEnd<AnyArms>,
    nativeTaskId: string | undefined,
    options: CompletionOptions,
  ): Promise<TaskEnd<AnyArms> | undefined> {
    const { name: tool, request } = this;
    const { questions = 0 } = this.options;
    const input = await inputFor(this.dependencies.settings, { tool, request, question, questions });
    if (input === undefined) return undefined;
    const next = await this.respond(question, nativeTaskId, { input, options });
    return next.answer.status === "failed" ? undefined : next.waitForCompletion(options);
  }

  private called(outcome: ExchangeResult): CallResult<AnyArms> {
    const { answer, recovery, taskId, nativeTaskId } = outcome;
    const { dependencies, release, registered, request, pinBy } = this;
    let latest = answer;
    return {
      tool: this.name,
      answer,
      release: release.version,
      attempts: this.attempts,
      idempotencyKey: this.key,
      operationId: registered?.operationId,
      replayed: member(outcome.payload, "replayed") === true,
      recovery,
      on: <R>(handlers: Handlers<AnyArms, R>): R => dispatch(answer, handlers),
      waitForCompletion: async (options: CompletionOptions = {}): Promise<TaskEnd<AnyArms>> => {
        const ended = await waitForCompletion(dependencies, {
          tool: this.toolOf(release)!,
          ...{ release, pinBy, answer, taskId, options },
          ...{ operationId: registered?.operationId, account: request.account },
        });
        latest = ended;
        await this.kept.noted({ lost: isUnknown(ended), taskId }, ended);
        return (await this.answered(ended, nativeTaskId, options)) ?? ended;
      },
      respond: (input, options = {}) => this.respond(latest, nativeTaskId, { input, options }),
    };
  }
}
