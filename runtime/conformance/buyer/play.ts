/** One storyboard played to a buyer, phase by phase. */
import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject, type Release } from "../../contract/index.js";
import type { TestKey } from "../../testing/index.js";
import type { Phase, Storyboard } from "../document.js";
import type { StepResult } from "../result.js";
import type { SchemaJudge } from "../schemas.js";
import { substitute } from "../substitution.js";
import { gradeBuyerStep } from "./grade.js";
import { type PublishedTask, Publisher } from "./publisher.js";
import { fixturesOf, scenariosOf } from "./scenarios.js";
import type { PlayedSellers } from "./server.js";
import type { BuyerStart, BuyerTask, SeenPhase, SentWebhook } from "./types.js";
import { sendHostile } from "./webhooks.js";

/** What a run plays with. */
export interface BuyerRun {
  readonly release: Release;
  readonly schemas: SchemaJudge;
  readonly sellers: PlayedSellers;
  readonly key: TestKey;
  /** Undefined where somebody starts the buyer by hand. */
  readonly start: BuyerStart | undefined;
  readonly onTask: ((task: BuyerTask) => void) | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly deadlineMs: number;
  readonly quietMs: number;
  readonly webhookPauseMs: number;
}

/** Milliseconds between looks at whether a buyer is done. */
const LOOK_MS = 50;

/** `3.1.0` as `3.1`, prereleases by their tail. */
const lineOf = (version: string): string => version.replace(/^(\d+\.\d+)\.\d+/, "$1");

/** What the played seller says of itself, where the fixtures do not. */
const capabilitiesOf = ({ word, version }: Release, storyboard: Storyboard, base: string): JsonObject => {
  const given = fixturesOf(storyboard).capabilities;
  if (isJsonObject(given)) return given;
  return {
    [word]: {
      major_versions: [Number.parseInt(version, 10)],
      supported_versions: [lineOf(version)],
      idempotency: { supported: true, replay_ttl_seconds: 86_400 },
    },
    supported_protocols: ["media_buy"],
    account: { supported_billing: ["operator"] },
    identity: { brand_json_url: `${base}/.well-known/brand.json` },
    webhook_signing: { supported: true, profile: `${word}/webhook-signing/v1`, algorithms: ["ed25519"] },
  };
};

function taskOf(storyboard: Storyboard, phase: Phase, url: string): BuyerTask {
  const source = {
    context: new Map<string, unknown>(),
    kit: {},
    agentUrl: url,
    uuid: randomUUID,
    aliases: new Map<string, string>(),
    webhookBase: () => undefined,
    webhookUrl: () => undefined,
    operationId: () => undefined,
  };
  const requests = phase.steps.flatMap(({ task, sample_request: request }) => {
    if (request === undefined) return [];
    // Keys are the buyer's to make.
    const { idempotency_key: _, ...rest } = substitute(request, source).value as JsonObject;
    return [{ task, request: rest }];
  });
  const words = [phase.narrative, ...phase.steps.map(({ narrative }) => narrative)] as unknown[];
  const brief = words
    .filter((one) => typeof one === "string")
    .join("\n")
    .trim();
  return { storyboard: storyboard.id, phase: phase.id, brief, seller: { url }, requests };
}

export class PlayedStoryboard {
  private readonly publisher: Publisher;
  private readonly webhooks: SentWebhook[] = [];
  /** What failed is kept with the rest until all are waited for. */
  private readonly sending: Promise<{ readonly error: unknown } | undefined>[] = [];

  constructor(
    private readonly run: BuyerRun,
    private readonly storyboard: Storyboard,
  ) {
    const { release } = run;
    const fixtures = fixturesOf(storyboard);
    this.publisher = new Publisher({
      release,
      capabilities: capabilitiesOf(release, storyboard, run.sellers.base),
      products: Array.isArray(fixtures.products) ? fixtures.products.filter(isJsonObject) : [],
      now: run.now,
      onSubmitted: (task, push) => this.submitted(task, push),
    });
    run.sellers.play(storyboard.id, this.publisher);
  }

  /** Webhooks of a task begin when its answer is on the way. */
  private submitted(task: PublishedTask, push: JsonObject | undefined): void {
    const { url, authentication, operation_id: operation } = push ?? {};
    if (task.scenario.webhooks === undefined || typeof url !== "string" || authentication !== undefined) return;
    const { run, publisher } = this;
    const pause = (): Promise<void> => run.sleep(run.webhookPauseMs);
    const envelope = {
      ...(operation !== undefined && { operation_id: operation }),
      ...{ task_id: task.id, task_type: "create_media_buy" },
    };
    const story = {
      envelope,
      pause,
      end: () => publisher.end(task),
      forged: publisher.booked(task.request),
    };
    const { key, now, fetch } = run;
    const send = async (): Promise<void> => {
      await pause();
      const sent = await sendHostile(story, { url, phase: task.phase, key, now, fetch });
      this.webhooks.push(...sent);
      const told = sent.find(
        ({ as, body, status = 0 }) => as === "genuine" && body.status === "completed" && status < 300,
      );
      if (told !== undefined) task.toldAt = Math.min(task.toldAt ?? told.at, told.at);
    };
    this.sending.push(
      send().then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    );
  }

  private async quiet(phase: string, until: number): Promise<void> {
    const { now, sleep, quietMs, start } = this.run;
    const begun = now();
    for (;;) {
      const calls = this.publisher.calls.filter((call) => call.phase === phase);
      const last = calls.at(-1)?.at ?? (start === undefined ? until : begun);
      if (now() >= until || now() - last >= quietMs) return;
      await sleep(LOOK_MS);
    }
  }

  private async phase(phase: Phase): Promise<SeenPhase> {
    const { run, publisher, storyboard } = this;
    publisher.script(phase.id, scenariosOf(storyboard, phase));
    const task = taskOf(storyboard, phase, run.sellers.url(storyboard.id, phase.id));
    run.onTask?.(task);
    const until = run.now() + run.deadlineMs;
    const done = run.start === undefined ? {} : await this.started(run.start, task);
    await this.quiet(phase.id, until);
    for (const failed of await Promise.all(this.sending)) if (failed !== undefined) throw failed.error;
    await this.quiet(phase.id, until);
    const ended = [...publisher.tasks.values()].filter((one) => one.phase === phase.id && one.toldAt !== undefined);
    return {
      calls: publisher.calls.filter((call) => call.phase === phase.id),
      webhooks: this.webhooks.filter((one) => one.phase === phase.id),
      ended: new Map(ended.map(({ id, toldAt }) => [id, toldAt!])),
      output: undefined,
      ...done,
    };
  }

  private async started(start: BuyerStart, task: BuyerTask): Promise<Pick<SeenPhase, "output" | "broken">> {
    const stop = AbortSignal.timeout(this.run.deadlineMs);
    try {
      const late = new Promise<never>((_, reject) =>
        stop.addEventListener("abort", () => reject(new Error(`it was not done in ${this.run.deadlineMs / 1000} s`))),
      );
      return { output: await Promise.race([start(task, stop), late]) };
    } catch (error) {
      return { output: undefined, broken: error instanceof Error ? error.message : String(error) };
    }
  }

  async play(): Promise<StepResult[]> {
    const results: StepResult[] = [];
    const { schemas, deadlineMs } = this.run;
    for (const phase of this.storyboard.phases) {
      const seen = await this.phase(phase);
      for (const step of phase.steps)
        results.push(gradeBuyerStep(step, { storyboard: this.storyboard, phase, seen, schemas, deadlineMs }));
    }
    return results;
  }
}
