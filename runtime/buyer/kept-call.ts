/** One call as it is kept: before its request leaves, with what is answered, until it has ended. */
import { type Answer, type AnyArms, isTerminal } from "../contract/index.js";
import type { CallingOptions } from "./call-dependencies.js";
import type { ExchangeResult } from "./exchange.js";
import type { Intent } from "./intent.js";
import { type Intents, intentOf, type ToldOfCall, toldIntent } from "./intents.js";
import type { LocalError } from "./types.js";

export class KeptCall {
  /** False once another process has carried it to its end. */
  isOurs = true;
  private intent: Intent | undefined;

  constructor(
    private readonly intents: Intents | undefined,
    private readonly options: CallingOptions,
  ) {
    this.intent = options.again;
  }

  /** Keeps it before it leaves. @returns why nothing may be sent: what cannot be kept is not done */
  async keep(
    call: Parameters<typeof intentOf>[0],
    { push, webhook }: { push: unknown; webhook: boolean },
  ): Promise<LocalError | undefined> {
    const { options, intents } = this;
    if (this.intent !== undefined) {
      // It is kept already, with what its agent has answered so far: that must not be lost by a second crash.
      if (this.intent.webhook === webhook) return undefined;
      this.intent = { ...this.intent, webhook };
      this.isOurs = (await intents?.note(this.intent, undefined)) ?? true;
      return undefined;
    }
    const intent = intentOf(call, { push, webhook, options });
    // A further answer comes from who gave the one before: the call that asked has gone on as that one.
    const { answers, given = 0 } = options.operationOf ?? {};
    const kept = await intents?.keep(intent, given === 0 ? answers : undefined);
    if (typeof kept === "object") return kept;
    if (kept === false) this.isOurs = false;
    else this.intent = intent;
    return undefined;
  }

  /** Nothing was done, and it is not to be made again as it was. */
  async forget(): Promise<void> {
    if (this.intent !== undefined) await this.intents?.drop(this.intent.idempotencyKey);
    this.intent = undefined;
  }

  /** What is known to have ended is not to be repeated; what goes on is, with what was answered. */
  async noted(told: ToldOfCall, end: Answer<AnyArms>): Promise<void> {
    const { intents, intent } = this;
    if (intents === undefined || intent === undefined || told.lost) return;
    // The call whose question this one has answered goes on as this one.
    const { answers } = this.options.operationOf ?? {};
    if (isTerminal(end.status)) this.isOurs = await intents.end(intent, end, answers);
    else {
      this.intent = toldIntent(intent, end, told);
      this.isOurs = await intents.note(this.intent, answers);
    }
  }

  /**
   * What the agent has answered. An answer to a question that failed and names the task is the task's end; else it was refused, and
   * the question stands.
   */
  async answered(outcome: ExchangeResult): Promise<void> {
    const { answer, lost, taskId } = outcome;
    const { operationOf, nativeTaskId } = this.options;
    const asks = operationOf?.answers;
    const isEnd = taskId !== undefined && [operationOf?.taskId, nativeTaskId].includes(taskId);
    if (asks === undefined || answer.status !== "failed" || isEnd) return this.noted(outcome, answer);
    if (lost || this.intent === undefined) return;
    await this.intents?.refuse(this.intent, asks);
    // Whoever waits for the refusal ends no call by it: the one that asks goes on.
    this.intent = undefined;
  }
}
