/** One call of a tool: agreed, keyed, registered, sent, repeated where that is safe and of use. */
import {
  type Answer,
  type AnyArms,
  type AnyTool,
  dispatch,
  type Failure,
  type Handlers,
  isTerminal,
  type JsonObject,
  type ProtocolError,
  type Release,
} from "../contract/index.js";
import { retryAfterSeconds } from "../extract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { type Agreed, isCapabilitiesTool } from "./agreement.js";
import { failedHere, type Outcome } from "./exchange.js";
import { localError } from "./fault.js";
import type { CallParts } from "./parts.js";
import { type PinBy, pinOf } from "./pin.js";
import { type Registered, registerWebhook, withOperations } from "./push.js";
import { type Routed, routed } from "./route.js";
import type { Settings } from "./settings.js";
import { settle } from "./settle.js";
import type { Called, CallOptions, RespondOptions, SettleOptions, TaskEnd } from "./types.js";

/** Longest delay between attempts, in milliseconds. */
const MAX_DELAY_MS = 60_000;
/** Delays vary by a quarter either way, so that callers of one agent do not come back together. */
const JITTER = 0.25;

/** What the first error asks for, else the usual delay, in milliseconds. */
function delayOf({ retry, random }: Settings, attempt: number, outcome: Outcome): number {
  const [error] = (outcome.answer.data as Failure).errors;
  const asked = error === undefined ? undefined : retryAfterSeconds(error);
  if (asked !== undefined) return asked * 1000;
  const usual = Math.min(retry.baseMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.round(usual * (1 - JITTER + 2 * JITTER * random()));
}

/** Sends until there is an answer to give, or no more use in sending. */
export async function repeat(
  settings: Settings,
  { signal, mayRepeat }: { signal: AbortSignal | undefined; mayRepeat: (outcome: Outcome) => boolean },
  send: (attempt: number) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly attempts: number }> {
  const { retry, now, pause } = settings;
  const started = now();
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(attempt);
    const done = { outcome, attempts: attempt };
    if (outcome.recovery !== "transient" || attempt >= retry.attempts) return done;
    if (!mayRepeat(outcome)) return done;
    const delay = delayOf(settings, attempt, outcome);
    if (now() + delay - started > retry.totalMs) return done;
    await pause(delay, signal);
    if (signal?.aborted) return done;
  }
}

const firstError = ({ answer }: Outcome): ProtocolError | undefined =>
  answer.status === "failed" || answer.status === "rejected" ? (answer.data as Failure).errors[0] : undefined;

export class ToolCalling {
  /** The key all attempts have. */
  readonly key: string | undefined;
  private registered: Registered | undefined;
  private release: Release;
  private pinBy: PinBy = "nothing";
  private attempts = 0;
  private revised = false;
  private request: JsonObject;

  constructor(
    private readonly parts: CallParts,
    private readonly name: string,
    request: JsonObject,
    private readonly options: CallOptions & { readonly nativeTaskId?: string | undefined },
  ) {
    [this.release] = parts.settings.releases as [Release];
    const { idempotency, mutating } = this.toolOf(this.release) ?? { idempotency: "none", mutating: false };
    const given = request.idempotency_key;
    const keyed = idempotency === "required" || (idempotency === "optional" && mutating);
    this.key = typeof given === "string" ? given : keyed ? parts.settings.uuid() : undefined;
    this.request = request;
  }

  private toolOf(release: Release): AnyTool | undefined {
    return Object.hasOwn(release.tools, this.name) ? release.tools[this.name] : undefined;
  }

  async run(): Promise<Called<AnyArms>> {
    const { signal } = this.options;
    try {
      const made = await this.answer();
      return "settled" in made ? made : this.called(made);
    } catch (error) {
      if (!signal?.aborted) throw error;
      await this.registered?.forget();
      const aborted = localError("CALL_ABORTED", "The caller ended the call", "terminal");
      return this.called(failedHere(aborted, { lost: this.attempts > 0 }));
    }
  }

  /** What the agent answered, or what the call became instead. */
  private async answer(): Promise<Outcome | Called<AnyArms>> {
    const { settings, agreements } = this.parts;
    const { signal } = this.options;
    signal?.throwIfAborted();
    this.request = await withOperations(this.request, this.key, settings);
    if (isCapabilitiesTool(this.name, settings.names)) return this.asked(agreements.known());
    const agreeing = await agreements.get(signal);
    if (!agreeing.ok) return agreeing.failure;
    const { agreed } = agreeing;
    const { releases, adapters } = settings;
    const route = routed({ name: this.name, agreement: agreed, releases, adapters });
    if (route.kind === "own") return this.asked(agreed);
    this.release = agreed.release;
    if (route.kind === "refused") return failedHere(route.error);
    return this.elsewhere(route, agreed);
  }

  /** The call by what stands in for its tool. Its key is of that tool: none is replayed under two names. */
  private async elsewhere(
    route: Exclude<Routed, { kind: "own" | "refused" }>,
    agreement: Agreed,
  ): Promise<Called<AnyArms>> {
    const { parts, options, request } = this;
    const call = (tool: string, asked: JsonObject, more: CallOptions = options): Promise<Called<AnyArms>> =>
      new ToolCalling(parts, tool, asked, more).run();
    parts.settings.logger?.info({ tool: this.name, route: route.kind }, "the agent lacks a tool");
    return route.kind === "direct" ? call(route.tool, request) : route.adapter(request, { call, options, agreement });
  }

  private async asked(agreed: Agreed | undefined): Promise<Outcome | Called<AnyArms>> {
    const { settings, agreements, judge } = this.parts;
    this.release = agreed?.release ?? this.release;
    this.pinBy = agreed?.pinBy ?? "nothing";
    const tool = this.toolOf(this.release);
    if (tool === undefined) return this.notThere();
    const args = this.argsFor();
    const refused = await judge.request(this.release, tool, args);
    if (refused !== undefined) return failedHere(refused);
    await this.register(tool);
    const outcome = await this.sent(tool, args, agreed);
    const error = firstError(outcome);
    if (error?.code === "VERSION_UNSUPPORTED" && !this.revised && agreements.revise(outcome.payload)) {
      this.revised = true;
      await this.registered?.forget();
      return this.answer();
    }
    if (this.registered !== undefined && refusesWebhook(error)) {
      // A seller may decline webhooks; polling does for both.
      settings.logger?.info({ tool: tool.name, code: error?.code }, "the agent declines webhooks");
      await this.registered.forget();
      this.registered = undefined;
      return this.finished(tool, await this.sent(tool, args, agreed));
    }
    return this.finished(tool, outcome);
  }

  private notThere(): Outcome {
    const message = `Release ${this.release.version}, which the agent speaks, has no tool ${this.name}`;
    return failedHere(localError("UNSUPPORTED_FEATURE", message, "correctable"));
  }

  private argsFor(): JsonObject {
    // Where a registration goes is the transport's to say.
    const { push_notification_config: _, ...request } = this.request;
    const pin = pinOf(this.release, this.name, this.pinBy);
    return { ...pin, ...request, ...(this.key !== undefined && { idempotency_key: this.key }) };
  }

  private async register(tool: AnyTool): Promise<void> {
    if (this.options.webhook === false || this.request.push_notification_config !== undefined) return;
    this.registered = await registerWebhook(this.parts.settings, { tool, release: this.release, key: this.key });
  }

  private async sent(tool: AnyTool, args: JsonObject, agreed: Agreed | undefined): Promise<Outcome> {
    const { settings, exchange } = this.parts;
    const { signal, contextId, nativeTaskId: taskId } = this.options;
    // A lost answer may be asked for again where doing it twice does nothing, or the agent knows the key again.
    const repeatable =
      !tool.mutating || tool.idempotency === "exempt" || (this.key !== undefined && agreed?.idempotent === true);
    const own = this.request.push_notification_config;
    const push = this.registered?.config ?? (isJsonObject(own) ? own : undefined);
    const { outcome, attempts } = await repeat(
      settings,
      { signal, mayRepeat: ({ lost }) => !lost || repeatable },
      () => {
        this.attempts += 1;
        return exchange.send(tool, this.release, { args, push, contextId, taskId, signal });
      },
    );
    settings.logger?.debug({ tool: tool.name, status: outcome.answer.status, attempts }, "called");
    return outcome;
  }

  private async finished(tool: AnyTool, outcome: Outcome): Promise<Outcome> {
    await this.parts.judge.answer(this.release, tool, outcome);
    const { status } = outcome.answer;
    // After a lost answer the agent may be at work: its webhook is still expected.
    if (isTerminal(status) && !outcome.lost) await this.registered?.forget();
    return outcome;
  }

  /** Goes on with a task that asks something: its question is the call's own answer, or what its task has come to since. */
  private async respond(
    question: Answer<AnyArms>,
    nativeTaskId: string | undefined,
    { input, options }: { input: JsonObject; options: RespondOptions },
  ): Promise<Called<AnyArms>> {
    if (question.status !== "input-required") {
      const message = `${this.name} is ${question.status} and asks nothing`;
      return this.called(failedHere(localError("INPUT_NOT_ASKED", message, "correctable")));
    }
    const { idempotency_key: _key, push_notification_config: _push, ...request } = this.request;
    const { contextId } = question;
    const { transport } = await this.parts.exchange.connection(options.signal);
    // Over MCP the older releases thread the conversation through the arguments.
    const byArguments = transport === "mcp" && this.release.facts.envelope.contextId.value === "threaded";
    const threaded = byArguments && contextId !== undefined;
    const next = { ...request, ...(threaded && { context_id: contextId }), ...input };
    const more = { ...options, nativeTaskId, ...(contextId !== undefined && { contextId }) };
    return new ToolCalling(this.parts, this.name, next, more).run();
  }

  private called(outcome: Outcome): Called<AnyArms> {
    const { answer, recovery, taskId, nativeTaskId } = outcome;
    const { parts, release, registered, request, pinBy } = this;
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
      settled: async (options: SettleOptions = {}): Promise<TaskEnd<AnyArms>> => {
        const settled = await settle(parts, {
          tool: this.toolOf(release)!,
          ...{ release, pinBy, answer, taskId, options },
          operationId: registered?.operationId,
          account: request.account,
        });
        latest = settled;
        return settled;
      },
      respond: (input, options = {}) => this.respond(latest, nativeTaskId, { input, options }),
    };
  }
}

const refusesWebhook = (error: ProtocolError | undefined): boolean =>
  typeof error?.field === "string" && /(^|[./])push_?notification_?config/i.test(error.field);
