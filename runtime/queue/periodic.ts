/**
 * Work done again and again beside everything else: never twice at once, and no step of it stops another. Whoever has a
 * timer that touches a database uses this, so that an error is told in one way and never ends the process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { errorText, safely } from "../listener.js";
import type { Logger } from "../log.js";

/**
 * What a step answers that did a bounded part of its work and left the rest: all other steps have their turn, and the next run
 * comes soon.
 */
export const MORE = Symbol("there is more to do");

/** Pause before the run that goes on with what a step has left, in milliseconds. */
const SOON_MS = 100;

/** One part of periodic work. */
export interface PeriodicStep {
  /** What it does, after "could not": `remove expired calls`. */
  readonly name: string;
  /** What holds while it fails, and what to do about it, in plain words. */
  readonly meanwhile: string;
  /**
   * @param stopping aborted when the work is to end: a step of many parts leaves the rest for the next start
   * @returns `MORE`, or a promise of it, where it has left some of its work
   */
  run(stopping: AbortSignal): unknown;
}

/** Told of steps that fail, and of those that work again. */
export interface Telling {
  /**
   * @param step its name
   * @param failures how often in a row
   * @param message what could not be done, and what that means
   */
  failed(fault: { readonly error: unknown; readonly step: string; readonly failures: number }, message: string): void;
  recovered(step: string, failures: number): void;
}

export interface Periodic {
  start(): void;
  /** Waits for a run that is under way. */
  stop(): Promise<void>;
}

export interface PeriodicOptions {
  /**
   * Pause before the next run, in milliseconds; a function is asked after each, so that instances that began together may
   * drift apart.
   */
  readonly pauseMs: number | (() => number);
  readonly steps: readonly PeriodicStep[];
  readonly telling: Telling;
  /** The first run comes after a pause as well; at once by default. */
  readonly firstPause?: boolean;
}

/** Failures in a row after which each such number is told; before, the powers of two are. */
const TOLD_EVERY = 1_024;

const isTold = (failures: number): boolean => Number.isInteger(Math.log2(failures)) || failures % TOLD_EVERY === 0;

/** As log lines of an application; as a process warning where it has given no logger. */
export const tellLog = (logger: Logger | undefined): Telling => ({
  failed({ error, step, failures }, message) {
    if (logger === undefined) process.emitWarning(`${message} (${errorText(error)})`, "AdbindFault");
    else logger.error({ err: error, step, failures }, message);
  },
  recovered: (step, failures) => logger?.info({ step, failures }, `${step}: works again`),
});

/**
 * Makes what runs steps, one after the other. What a step throws is told the first time, then ever less often, and the
 * others run all the same; it rejects never.
 * @returns of what is run: whether a step has left some of its work
 */
export function stepRunner(
  telling: Telling,
): (steps: readonly PeriodicStep[], stopping?: AbortSignal) => Promise<boolean> {
  const failing = new Map<string, number>();
  return async (steps, stopping = new AbortController().signal) => {
    let more = false;
    for (const { name, meanwhile, run } of steps) {
      if (stopping.aborted) break;
      try {
        if ((await run(stopping)) === MORE) more = true;
        // As it is by now: of two that run beside each other the one may have failed since the other began.
        const before = failing.get(name) ?? 0;
        failing.delete(name);
        if (before > 0) safely(() => telling.recovered(name, before));
      } catch (error) {
        const failures = (failing.get(name) ?? 0) + 1;
        failing.set(name, failures);
        if (isTold(failures)) {
          const message = `could not ${name}: ${meanwhile}; it is tried again`;
          safely(() => telling.failed({ error, step: name, failures }, message));
        }
      }
    }
    return more;
  };
}

/** Makes periodic work; nothing happens before `start`. Its timer keeps no process alive. */
export function createPeriodic({ pauseMs, steps, telling, firstPause = false }: PeriodicOptions): Periodic {
  const pause = typeof pauseMs === "number" ? () => pauseMs : pauseMs;
  const runSteps = stepRunner(telling);
  let ending: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const begin = (stopping: AbortSignal): void => {
    const arm = (more = false): void => {
      if (!stopping.aborted) timer = setTimeout(turn, more ? Math.min(SOON_MS, pause()) : pause()).unref();
    };
    const turn = (): void => {
      running = runSteps(steps, stopping).then(arm);
    };
    if (firstPause) arm();
    else turn();
  };
  return {
    start() {
      if (ending !== undefined) return;
      ending = new AbortController();
      begin(ending.signal);
    },
    async stop() {
      ending?.abort();
      ending = undefined;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Steps side by side: one that is slow delays itself only. */
export interface SideBySide {
  /** Begins steps and waits for none; one that is still at it is left to it, and one that leaves some of its work goes on soon. */
  begin(steps: readonly PeriodicStep[], stopping: AbortSignal): void;
  /** Waits for those under way, so many milliseconds at most. */
  ended(limitMs: number): Promise<void>;
}

/** Makes what begins steps. Their errors are told as those of a `stepRunner`. */
export function sideBySide(telling: Telling): SideBySide {
  const runSteps = stepRunner(telling);
  const underWay = new Map<string, Promise<void>>();
  const toItsEnd = async (step: PeriodicStep, stopping: AbortSignal): Promise<void> => {
    while (await runSteps([step], stopping)) {
      if (stopping.aborted) return;
      await sleep(SOON_MS, undefined, { ref: false });
    }
  };
  return {
    begin(steps, stopping) {
      for (const step of steps) {
        if (underWay.has(step.name)) continue;
        const run = toItsEnd(step, stopping).finally(() => underWay.delete(step.name));
        underWay.set(step.name, run);
      }
    },
    async ended(limitMs) {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, limitMs);
      await Promise.race([late, Promise.all(underWay.values())]);
      clearTimeout(timer);
    },
  };
}

/** How items are gone through. */
interface EachBounds {
  /** Items worked on at a time; one by default. */
  readonly atOnce?: number;
  /** Items that were not begun when it is aborted are left. */
  readonly stopping?: AbortSignal;
}

/**
 * Does work to each item, though some of it fails.
 * @throws what the work of one item threw, or an AggregateError of several, when all have had their turn
 */
export async function eachAlone<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  { atOnce = 1, stopping }: EachBounds = {},
): Promise<void> {
  const faults: unknown[] = [];
  const rest = items[Symbol.iterator]();
  const turn = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && !stopping?.aborted; next = rest.next()) {
      try {
        await work(next.value);
      } catch (error) {
        faults.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1)
    throw new AggregateError(faults, `${faults.length} failed, first with ${errorText(faults[0])}`);
}
