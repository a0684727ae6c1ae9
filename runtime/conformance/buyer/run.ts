/** A buyer's run: a seller is played to it, phase by phase, and what it did is graded. */
import { setTimeout as systemSleep } from "node:timers/promises";
import { isJsonObject, type Release, type SchemaDocuments, wireNames } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { createTestKey, type TestKey } from "../../testing/key.js";
import { createHttp } from "../agent/http.js";
import type { Storyboard } from "../document.js";
import type { Suite } from "../load.js";
import {
  type ConformanceReport,
  countSteps,
  type StepResult,
  type StoryboardResult,
  unknownChecks,
} from "../result.js";
import { createSchemaJudge } from "../schemas.js";
import { type BuyerRun, PlayedStoryboard } from "./play.js";
import { gradeReceiver, isReceiverStoryboard } from "./receiver.js";
import { type PlayedSellersOptions, serveSellers } from "./server.js";
import { startByHttp } from "./start.js";
import { unpublishedStoryboards } from "./storyboards.js";
import type { BuyerStart, BuyerTask } from "./types.js";

/** Which buyer to test, with which storyboards, and how to start it. Times are milliseconds. */
export interface BuyerConformanceOptions {
  /** The release that the seller played to the buyer speaks. */
  readonly release: Release;
  readonly documents?: SchemaDocuments;
  /** A suite: its buyers' storyboards are run beside ours, and its vectors for receivers. */
  readonly suite?: Suite;
  /** Ids of storyboards; all without. */
  readonly storyboards?: readonly string[];
  /** Only steps of this id are reported. */
  readonly step?: string;
  /**
   * Has the buyer do what a phase asks: a function, or a URL that is posted the task as JSON and answers when it is done.
   * Without, somebody starts the buyer by hand, at the URLs that `onTask` tells.
   */
  readonly start?: BuyerStart | string;
  /** A receiver of the buyer's: published vectors are posted to it. */
  readonly receiver?: string;
  readonly serve?: PlayedSellersOptions;
  /** Signs webhooks; made anew by default. Its public half is served beside the seller. */
  readonly key?: TestKey;
  /** Milliseconds that a phase may take at most; default a minute, ten without `start`. */
  readonly deadlineMs?: number;
  /** Milliseconds without a call after which a buyer has done what it does; default 3 000, 15 000 without `start`. */
  readonly quietMs?: number;
  /** Milliseconds between webhooks; default 150. */
  readonly webhookPauseMs?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** Told of each phase before it is played. */
  readonly onTask?: (task: BuyerTask) => void;
  readonly onBegin?: (id: string, count: number, total: number) => void;
  readonly onStoryboard?: (done: StoryboardResult, count: number, total: number) => void;
}

const isBuyerStoryboard = ({ track, fixtures }: Storyboard): boolean =>
  isJsonObject(fixtures?.fixture_publisher) || /_buyer$/.test(track ?? "");

const resultOf = (storyboard: Storyboard, steps: readonly StepResult[]): StoryboardResult => {
  const failed = steps.some(({ status }) => status === "failed");
  const passed = steps.some(({ status }) => status === "passed");
  const [left] = steps.flatMap(({ skip }) => (skip === undefined ? [] : [`${skip.reason}: ${skip.detail}`]));
  return {
    id: storyboard.id,
    title: oneTitle(storyboard),
    ...(storyboard.track !== undefined && { track: storyboard.track }),
    file: storyboard.file,
    steps,
    verdict: failed ? "failed" : passed ? "passed" : "not_applicable",
    ...(left !== undefined && !passed && { reason: left }),
  };
};

/** Of ours it is said that nobody has published them. */
const oneTitle = (storyboard: Storyboard): string =>
  `${storyboard.title ?? storyboard.id}${(storyboard as { unpublished?: unknown }).unpublished === true ? " (unpublished)" : ""}`;

/** @throws AdbindError `usage` */
function selected({ suite, storyboards: wanted = [] }: BuyerConformanceOptions): Storyboard[] {
  const all = [
    ...(suite?.storyboards ?? []).filter((one) => isBuyerStoryboard(one) || isReceiverStoryboard(one)),
    ...unpublishedStoryboards,
  ];
  const unknown = wanted.find((id) => !all.some((one) => one.id === id));
  if (unknown !== undefined)
    throw new AdbindError("usage", `there is no buyers' storyboard ${unknown}`, {
      remedy: `there are ${all.map(({ id }) => id).join(", ")}`,
    });
  return wanted.length === 0 ? all : all.filter(({ id }) => wanted.includes(id));
}

/**
 * Plays a seller to a buyer and grades what the buyer did. What it does wrong is in the report; nothing of it throws.
 * @throws AdbindError `usage` for an id that is no buyers' storyboard
 */
export async function runBuyerConformance(options: BuyerConformanceOptions): Promise<ConformanceReport> {
  const {
    release,
    documents,
    start,
    now = Date.now,
    key = createTestKey({ word: release.word, keyid: "played" }),
  } = options;
  const storyboards = selected(options);
  const http = await createHttp({});
  const fetch = options.fetch ?? http.fetch;
  const sellers = await serveSellers(options.serve ?? {}, key);
  const run: BuyerRun = {
    ...{ release, sellers, key, fetch, now },
    schemas: await createSchemaJudge(release, { documents }),
    start: typeof start === "string" ? startByHttp(start, fetch) : start,
    sleep: options.sleep ?? ((ms) => systemSleep(ms)),
    deadlineMs: options.deadlineMs ?? (start === undefined ? 600_000 : 60_000),
    quietMs: options.quietMs ?? (start === undefined ? 15_000 : 3_000),
    webhookPauseMs: options.webhookPauseMs ?? 150,
    onTask: options.onTask,
  };
  const startedAt = now();
  try {
    const done: StoryboardResult[] = [];
    for (const storyboard of storyboards) {
      options.onBegin?.(storyboard.id, done.length + 1, storyboards.length);
      const steps = isReceiverStoryboard(storyboard)
        ? await gradeReceiver(storyboard, { suite: options.suite!, receiver: options.receiver, key, now, fetch })
        : await new PlayedStoryboard(run, storyboard).play();
      const result = resultOf(storyboard, steps);
      done.push(result);
      options.onStoryboard?.(result, done.length, storyboards.length);
    }
    return reportOf(options, { base: sellers.base, startedAt, tookMs: now() - startedAt }, done);
  } finally {
    await sellers.close();
    await http.close();
  }
}

function reportOf(
  options: BuyerConformanceOptions,
  { base, startedAt, tookMs }: { base: string; startedAt: number; tookMs: number },
  all: readonly StoryboardResult[],
): ConformanceReport {
  const { release, suite, step, start } = options;
  const only = (one: StoryboardResult): StoryboardResult => ({
    ...one,
    steps: one.steps.filter((result) => result.step === step),
  });
  const storyboards = step === undefined ? all : all.map(only);
  const steps = storyboards.flatMap((one) => one.steps);
  const counts = countSteps(steps);
  return {
    suite: { version: suite?.version, place: suite?.place ?? "storyboards of adbind's own, unpublished" },
    release: { word: release.word, version: release.version },
    agent: { url: typeof start === "string" ? start : base, transport: "mcp", tools: [], role: "buyer" },
    startedAt: new Date(startedAt).toISOString(),
    tookMs,
    storyboards,
    notSelected: [],
    counts,
    unknownChecks: unknownChecks(steps),
    notices: [`the seller was played at ${base}; ${wireNames(release.word).webhookTag} keys at ${base}/keys`],
    ok: counts.failed === 0 && counts.passed > 0,
  };
}
