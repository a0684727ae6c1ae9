/** The handlers that run: each with its time, and what becomes of its event when it ends. */
import { AdbindError } from "../errors.js";
import type { Effect, Held, InboxEvent } from "../store/types.js";
import { HandlerOverdue, startRun, type TimedRun } from "./deadline.js";
import { runHandler } from "./dispatch.js";
import type { EventContent } from "./envelope.js";
import { PutOffs } from "./put-offs.js";
import type { ReceiverConfig } from "./settings.js";
import { storable } from "./storable.js";
import type { RunOutcome } from "./tracing.js";

/** Longest delay between attempts, in milliseconds: an hour. */
const MAX_BACKOFF_MS = 3_600_000;
/** Spread of delays, either way: events that failed together should not come back together. */
const JITTER = 0.25;
/** Characters kept of a failure's text. */
const MAX_ERROR_CHARS = 500;

/** The event is handled here no more. */
const GONE: readonly RunOutcome[] = ["completed", "lost", "dead"];

/** The receiver was stopped before the handler was done. */
class Stopped extends Error {}

export const faultText = (error: unknown): string =>
  storable(error instanceof Error ? `${error.name}: ${error.message}` : String(error), MAX_ERROR_CHARS);

/** An event that is leased, and its body where it was read already. */
export interface InboxJob {
  readonly id: number;
  readonly event: InboxEvent;
  readonly content: EventContent | undefined;
}

export interface HandlerRuns {
  /**
   * Runs the handler of an event that is leased, and stores what became of it.
   * @param free called when the handler has ended, and its effect where it has one
   * @returns `kept` where the event is in the store still
   */
  run(job: InboxJob, free: () => void): Promise<"gone" | "kept">;
  /** Gives up every run; their events are left to their leases. */
  giveUp(): void;
}

/**
 * Makes the keeper of runs.
 * @param owner whose lease the events are under
 */
export function handlerRuns<Tx>(config: ReceiverConfig<Tx>, owner: string): HandlerRuns {
  const running = new Set<TimedRun>();
  const putOffs = new PutOffs();
  return {
    async run({ id, event, content }, free) {
      const given = startRun(config.handlerTimeoutSeconds);
      running.add(given);
      try {
        const ended = await handle(config, owner, { event, content, given, free, putOffs });
        return ended === "completed" || ended === "lost" ? "gone" : "kept";
      } catch (error) {
        // The store is out of reach: the lease runs out, and the event is taken again.
        config.log.error({ id, error: faultText(error) }, "event left to its lease");
        return "kept";
      } finally {
        running.delete(given);
      }
    },
    giveUp() {
      for (const given of running) given.giveUp(new Stopped());
    },
  };
}

interface Run {
  readonly event: InboxEvent;
  readonly content: EventContent | undefined;
  readonly given: TimedRun;
  /** Gives its slot to the next handler. */
  readonly free: () => void;
  readonly putOffs: PutOffs;
}

/** One run of a handler, to what becomes of its event. */
async function handle<Tx>(
  config: ReceiverConfig<Tx>,
  owner: string,
  { event, content, given, free, putOffs }: Run,
): Promise<RunOutcome> {
  const { signal } = given;
  const begun = performance.now();
  const span = config.traces.run(event);
  let ended: RunOutcome = "left";
  let fault: unknown;
  const held = (): Held => ({ id: event.id, owner, now: config.now(), attempts: event.attempts });
  let whose: Whose | undefined;
  const noting =
    (effect: Effect<Tx>): Effect<Tx> =>
    (tx) => {
      whose = "application";
      return effect(tx);
    };
  try {
    const effect = await given.wait(span.within(() => runHandler(config, event, { content, signal })));
    if (effect === undefined) free();
    // Whoever let nothing else run until then has used up its time by itself, and the store had none.
    whose = performance.now() - begun < config.handlerTimeoutSeconds * 1000 ? "store" : "application";
    ended = await given.wait(config.store.inbox.complete({ ...held(), signal }, effect && noting(effect)));
  } catch (error) {
    // Who stops the receiver leaves the event to its lease: the handler may still be at it.
    if (error instanceof Stopped) return ended;
    fault = error;
    const isStore = whose !== undefined && (await isStores(whose, error));
    const doubled = isStore ? putOffs.add(event.id, whose === "application" && !isLackingRoom(error)) : undefined;
    if (doubled !== undefined) await putOff(config, event, { ...held(), doubled }, error);
    else ended = await fail(config, event, held(), error);
  } finally {
    given.close();
    if (GONE.includes(ended)) putOffs.forget(event.id);
    span.end(ended, fault);
    config.metrics.handled(ended, event.kind, (performance.now() - begun) / 1000);
  }
  return ended;
}

/** Whose work goes on; the application's are the handler, and the transaction from its effect on. */
type Whose = "application" | "store";

/** A disk that is full, or fails, lets an event be removed and an effect write nothing. */
const isLackingRoom = (error: unknown): boolean => error instanceof AdbindError && error.code === "database_failed";

/**
 * Has the store failed, and not the application? From an effect on, the words of a database or of the system may be those of one of
 * the application's own, and a statement that takes too long, or a constraint met at the commit, is its own: there only what the
 * store has told is the store's. One that keeps a handler waiting that has ended has failed too.
 */
async function isStores(whose: Whose, error: unknown): Promise<boolean> {
  if (whose === "store" ? error instanceof HandlerOverdue : !(error instanceof AdbindError)) return whose === "store";
  // Whoever verifies webhooks need not load the engines.
  const { isPassingFault } = await import("../db/open.js");
  return isPassingFault(error);
}

/**
 * The store could not write down that an event is handled. No failure of its handler is counted: an outage would use up the tries
 * of all that ran in it.
 */
async function putOff<Tx>(
  config: ReceiverConfig<Tx>,
  event: InboxEvent,
  { doubled, ...held }: Held & { readonly doubled: number },
  error: unknown,
): Promise<void> {
  const about = { id: event.id, kind: event.kind, error: faultText(error) };
  config.log.error(
    about,
    "the store could not keep that an event is handled; it is handled again later, no failure counted",
  );
  const due = held.now + backoff(config, event.attempts + doubled);
  await config.store.inbox.releaseLease([event.id], { owner: held.owner, now: due });
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
