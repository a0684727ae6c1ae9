/** The handlers that run: each with its time, and what becomes of its event when it ends. */
import type { Held, InboxEvent } from "../store/types.js";
import { HandlerOverdue, startRun, type TimedRun } from "./deadline.js";
import { runHandler } from "./dispatch.js";
import type { EventContent } from "./envelope.js";
import type { ReceiverConfig } from "./settings.js";
import type { RunOutcome } from "./tracing.js";

/** Longest delay between attempts, in milliseconds: an hour. */
const MAX_BACKOFF_MS = 3_600_000;
/** Spread of delays, either way: events that failed together should not come back together. */
const JITTER = 0.25;
/** Characters kept of a failure's text. */
const MAX_ERROR_CHARS = 500;

/** The receiver was stopped before the handler was done. */
class Stopped extends Error {}

export const faultText = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replaceAll("\0", "").toWellFormed().slice(0, MAX_ERROR_CHARS);
};

export interface HandlerRuns {
  readonly ids: () => number[];
  readonly count: () => number;
  /** Handlers and effects that run: a run without an effect is none of them while its completion is stored. */
  readonly busy: () => number;
  /** Runs the handler of an event that is leased; once more, when the run before it is just ending. */
  run(event: InboxEvent, read?: EventContent): void;
  /** Gives up every run; their events are left to their leases. */
  giveUp(): void;
  /** Settles when those that run now are done. */
  allDone(): Promise<unknown>;
  /** Settles when one of them is done. */
  oneDone(): Promise<unknown>;
}

/**
 * Makes the keeper of runs.
 * @param owner whose lease the events are under
 * @param onFree called when a handler has ended, and its effect where it has one
 * @param onDone called when a run has ended and what became of it is stored
 */
export function handlerRuns<Tx>(
  config: ReceiverConfig<Tx>,
  owner: string,
  { onFree, onDone }: { readonly onFree: () => void; readonly onDone: () => void },
): HandlerRuns {
  const running = new Map<number, { readonly done: Promise<void>; readonly given: TimedRun }>();
  const slots = slotsOf(onFree);

  const run = (event: InboxEvent, read?: EventContent): void => {
    const before = running.get(event.id);
    if (before !== undefined) {
      // Given back and taken again in one commit, before the first run has heard of it.
      before.done
        .then(() => run(event, read))
        .catch((error: unknown) =>
          config.log.error({ id: event.id, error: faultText(error) }, "event left to its lease"),
        );
      return;
    }
    const given = startRun(config.handlerTimeoutSeconds);
    const done = handle(config, owner, { event, read, given, leave: slots.take() })
      // The store is out of reach: the lease runs out, and the event is taken again.
      .catch((error: unknown) => config.log.error({ id: event.id, error: faultText(error) }, "event left to its lease"))
      .finally(() => {
        running.delete(event.id);
        onDone();
      });
    running.set(event.id, { done, given });
  };

  return {
    ids: () => [...running.keys()],
    count: () => running.size,
    busy: slots.taken,
    run,
    giveUp() {
      for (const { given } of running.values()) given.giveUp(new Stopped());
    },
    allDone: () => Promise.all([...running.values()].map(({ done }) => done)),
    oneDone: () => Promise.race([...running.values()].map(({ done }) => done)),
  };
}

/** Slots of handlers. `take` answers what gives the slot back, the first time it is called. */
function slotsOf(onFree: () => void) {
  let taken = 0;
  return {
    taken: () => taken,
    take(): () => void {
      taken += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        taken -= 1;
        onFree();
      };
    },
  };
}

interface Run {
  readonly event: InboxEvent;
  /** Its body, where it was read already. */
  readonly read: EventContent | undefined;
  readonly given: TimedRun;
  /** Gives its slot to the next handler. */
  readonly leave: () => void;
}

/** One run of a handler, to what becomes of its event. */
async function handle<Tx>(
  config: ReceiverConfig<Tx>,
  owner: string,
  { event, read, given, leave }: Run,
): Promise<void> {
  const { signal } = given;
  const begun = performance.now();
  const span = config.traces.run(event);
  let ended: RunOutcome = "left";
  let fault: unknown;
  const held = (): Held => ({ id: event.id, owner, now: config.now(), attempts: event.attempts });
  try {
    const effect = await given.wait(span.within(() => runHandler(config, event, { read, signal })));
    if (effect === undefined) leave();
    ended = await given.wait(config.store.inbox.complete({ ...held(), signal }, effect));
  } catch (error) {
    // Who stops the receiver leaves the event to its lease: the handler may still be at it.
    if (error instanceof Stopped) return;
    fault = error;
    ended = await fail(config, event, held(), error);
  } finally {
    leave();
    given.close();
    span.end(ended, fault);
    config.metrics.handled(ended, event.kind, (performance.now() - begun) / 1000);
  }
}

async function fail<Tx>(
  config: ReceiverConfig<Tx>,
  event: InboxEvent,
  held: Held,
  error: unknown,
): Promise<"dead" | "retried"> {
  const { inbox } = config.store;
  const attempts = event.attempts + 1;
  const dead = attempts >= config.maxAttempts;
  // The error's text stays in the store: it may quote what the handler worked with, and logs must not.
  const about = {
    id: event.id,
    kind: event.kind,
    attempts,
    error: error instanceof Error ? error.name : typeof error,
    ...(error instanceof HandlerOverdue && { seconds: config.handlerTimeoutSeconds }),
  };
  config.log.warn(about, dead ? "event given up" : "handler failed");
  if (dead) await inbox.deadLetter(held, faultText(error));
  else await inbox.retry(held, held.now + backoff(config, event.attempts), faultText(error));
  return dead ? "dead" : "retried";
}

/** Delay before the next attempt, in milliseconds. */
const backoff = <Tx>({ backoffMs, random }: ReceiverConfig<Tx>, attempts: number): number => {
  const delay = Math.min(backoffMs * 2 ** Math.min(attempts, 30), MAX_BACKOFF_MS);
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random()));
};
