/** A receiver of webhooks: verify, claim, order, ingest, answer, and then run the handler. */
import type { Events, Release, Tools } from "../contract/index.js";
import type { ReceiverStore } from "../store/types.js";
import { storeExpectation } from "./expect.js";
import { type FeedOptions, type FeedRead, readFeed } from "./feed.js";
import { fetchHandler } from "./fetch.js";
import { createReceiving } from "./receive.js";
import { resolveSettings } from "./settings.js";
import type {
  BoundRelease,
  Expectation,
  ReceiverAnswer,
  ReceiverHandlers,
  ReceiverRequest,
  ReceiverSettings,
} from "./types.js";
import { Endings, type Pause, type Watched, type WatchOptions, watch } from "./watch.js";
import { inboxWorker } from "./worker.js";

/** What a receiver is made of: one release or several, and handlers for them. */
export type ReceiverOptions<T extends Tools, Tx, E extends Events = Events> = ReceiverSettings<Tx> &
  (
    | {
        readonly release: Release<T, E>;
        readonly handlers: ReceiverHandlers<T, Tx, E>;
        readonly releases?: never;
      }
    /** Several releases side by side; the first is that of senders whose release is not configured. */
    | { readonly releases: readonly BoundRelease<Tx>[]; readonly release?: never; readonly handlers?: never }
  );

/** What a receiver tells every sender of itself (docs/protocol/webhooks.md#deduplication). */
export interface ReceiverDescriptor {
  readonly dedup_window_seconds: number;
  readonly max_body_bytes: number;
}

export interface StopOptions {
  /** Longest wait for the handlers that run, in milliseconds; as long as a handler may take by default. */
  readonly withinMs?: number;
}

/** Webhooks in: what is expected, what arrives, and the work that follows. */
export interface Receiver<Tx = unknown> {
  readonly store: ReceiverStore<Tx>;
  readonly descriptor: ReceiverDescriptor;
  /** Answers one request. It never rejects. */
  handle(request: ReceiverRequest): Promise<ReceiverAnswer>;
  /** Answers one request of fetch's kind, for servers that speak in those. It never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Tells what is registered with a seller, best before the request that registers it is sent.
   * @returns how many events had come before it, and are handled now
   * @throws AdbindError `registration_invalid`, `legacy_auth_removed`, `secret_weak`
   */
  expect(expectation: Expectation): Promise<number>;
  /** Takes an expectation back. Events that come for it afterwards are parked, or refused when the route has no other. */
  forget(route: string, operationId?: string): Promise<boolean>;
  /**
   * Polls a task until it ends, by webhook or by poll. See `WatchOptions`.
   * @throws AdbindError `receiver_option_invalid` for a task id that databases do not store as it is
   */
  watchTask(options: WatchOptions): Promise<Watched>;
  /** Reads an account's feed of changes; what was pushed before is not handled again, nor the other way round. */
  readChanges(options: FeedOptions): Promise<FeedRead>;
  /** Begins to run handlers. `handle` keeps events without it, for another instance to run. */
  start(): void;
  /**
   * Stops taking events, and waits for the handlers that run. The store stays open: it is the application's.
   * @returns how many handlers were not waited for; their events are left to their lease, for whoever takes it next
   */
  stop(options?: StopOptions): Promise<number>;
  /** Resolves when no handler runs and no event is due. */
  idle(): Promise<void>;
}

/** Pairs a release with handlers written against it, for `createReceiver({releases})`. */
export const bindRelease = <T extends Tools, Tx, E extends Events = Events>(
  release: Release<T, E>,
  handlers: ReceiverHandlers<T, Tx, E>,
): BoundRelease<Tx> => ({ release: release as Release, handlers: handlers as unknown as BoundRelease<Tx>["handlers"] });

/**
 * Makes a receiver for any server. `start` it to have handlers run.
 * @param pause how `watchTask` waits between polls; a timer by default
 * @throws AdbindError `receiver_option_invalid`
 */
export function createReceiver<T extends Tools, Tx, E extends Events = Events>(
  options: ReceiverOptions<T, Tx, E>,
  pause?: Pause,
): Receiver<Tx> {
  const bound = options.releases ?? [bindRelease(options.release, options.handlers)];
  const config = resolveSettings(options, bound);
  const worker = inboxWorker(config);
  const endings = new Endings();
  const receiving = createReceiving(config, worker, endings.tell);
  const { store } = config;
  const watches = new AbortController();
  const undatabases = store.databases && config.metrics.databases(store.databases);
  const unobserve = config.metrics.backlog(async () => {
    const [events, oldest] = await Promise.all([store.inbox.backlog(), store.inbox.oldest()]);
    const oldestSeconds = oldest === null ? 0 : Math.max(0, (config.now() - oldest) / 1000);
    return { events: { ...events }, oldestSeconds };
  });
  return {
    store,
    descriptor: { dedup_window_seconds: config.dedupWindowSeconds, max_body_bytes: config.maxBodyBytes },
    handle: receiving.handle,
    fetch: fetchHandler(receiving.handle),
    async expect(expectation) {
      const released = await storeExpectation(config, expectation);
      receiving.forget(expectation.route);
      if (released > 0) worker.wake();
      return released;
    },
    forget(route, operationId) {
      receiving.forget(route);
      return store.registrations.remove(route, operationId ?? null);
    },
    watchTask: (watched) => {
      const signal = watched.signal ? AbortSignal.any([watched.signal, watches.signal]) : watches.signal;
      return watch(config, receiving.ingest, { ...watched, signal }, { pause, endings });
    },
    readChanges: (feed) => readFeed(config, receiving.ingest, feed),
    start: () => worker.start(),
    async stop({ withinMs } = {}) {
      watches.abort();
      unobserve();
      undatabases?.();
      return worker.stop(withinMs);
    },
    idle: () => worker.idle(),
  };
}
