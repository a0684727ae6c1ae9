/** Puts a crawler together on a store: SQLite for one machine, PostgreSQL for any number of instances. */
import { randomUUID } from "node:crypto";
import type { Database } from "../../db/types.js";
import {
  createGuardedFetch,
  type Fetcher,
  LONGEST_RETRY_AFTER_MS,
  type Lookup,
  openNameLookup,
} from "../../net/index.js";
import { openQueue } from "../../queue/open.js";
import { tellLog } from "../../queue/periodic.js";
import type { Queue } from "../../queue/types.js";
import { createWorker, type Worker } from "../../queue/worker.js";
import { activeCount, dueManaged } from "../../store/registry-crawl.js";
import { acceptFile } from "../../store/registry-crawl-files.js";
import { isOptedOut } from "../../store/registry-opt-outs.js";
import { type Attempts, crawlAttempts } from "./attempts.js";
import { hostedChecks } from "./hosted.js";
import { inspector } from "./inspect.js";
import { findingNone, leavingAlone, type OptedOut } from "./left-alone.js";
import type { Origin } from "./locate.js";
import { crawlMetrics } from "./metrics.js";
import { pacedFetch } from "./pace.js";
import { crawlRequests } from "./requests.js";
import { ROBOT_NAME, robotsOf } from "./robots.js";
import { safetyCheck } from "./safety.js";
import { crawlSchedule } from "./schedule.js";
import { checkedCrawlLimits, checkedPublicUrl } from "./settings.js";
import { SHARED_MS, sharedFiles } from "./shared-files.js";
import type { Crawler, CrawlerOptions, CrawlLimits } from "./types.js";

/** Name of the crawler's jobs in the queue. */
const CRAWL_TOPIC = "registry-crawl";
/** Hosts of one registrable domain crawled at once by an instance. */
const PER_OWNER = 2;
/** What a crawler fetches by. */
interface Fetching {
  readonly fetch: Fetcher;
  readonly lookup: Lookup;
  close(): Promise<void>;
}

/** The caller's fetch and lookup; in place of one that is not given, one of our own that is closed with the crawler. */
function fetchingOf(options: CrawlerOptions, publicUrl: string, optedOut: OptedOut): Fetching {
  const names = options.lookup === undefined ? openNameLookup() : undefined;
  const lookup = options.lookup ?? names!.lookup;
  if (options.fetch !== undefined)
    return { fetch: leavingAlone(options.fetch, optedOut), lookup, close: async () => names?.close() };
  const own = createGuardedFetch({
    // With the registry's address, so that operators of origins know whom to ask.
    userAgent: `${ROBOT_NAME} (+${new URL(publicUrl).origin})`,
    lookup: findingNone(lookup, optedOut),
  });
  return {
    fetch: leavingAlone(pacedFetch(own), optedOut),
    lookup,
    close() {
      names?.close();
      return own.close();
    },
  };
}

/** What was asked for and is not answered yet: who asked may have given up on it, but it still writes. */
function tracking() {
  const asked = new Set<Promise<unknown>>();
  const tracked =
    <A extends unknown[], T>(ask: (...args: A) => Promise<T>): ((...args: A) => Promise<T>) =>
    (...args) => {
      const answer = ask(...args);
      asked.add(answer);
      const done = (): void => void asked.delete(answer);
      answer.then(done, done);
      return answer;
    };
  return { tracked, ended: () => Promise.allSettled(asked) };
}

const workerOf = (
  queue: Queue,
  { handle, effect }: Attempts,
  { limits, now, onFault }: { limits: CrawlLimits; now: () => number; onFault: (error: unknown) => void },
): Worker =>
  createWorker({
    queue,
    handle,
    effect,
    now,
    onFault,
    concurrency: limits.concurrency,
    perEndpoint: PER_OWNER,
    longestDelayMs: Math.max(...limits.retryMs, LONGEST_RETRY_AFTER_MS),
  });

/** What the next crawls go by. */
const operating = (store: Database, now: () => number): Pick<Crawler, "accept" | "revalidateManaged"> => ({
  accept: (domain) => store.write((q) => acceptFile(q, domain)),
  revalidateManaged: (manager) => store.write((q) => dueManaged(q, manager, now() + SHARED_MS)),
});

/**
 * Makes a crawler. Nothing is crawled before `start`; requests are taken at once.
 * @throws AdbindError `registry_option_invalid` when an option cannot be used
 */
export async function createCrawler(options: CrawlerOptions): Promise<Crawler> {
  const limits = checkedCrawlLimits(options);
  const publicUrl = checkedPublicUrl(options.publicUrl);
  const { data, now = options.store.now ?? Date.now, random = Math.random, logger: log } = options;
  const metrics = crawlMetrics(options.meter);
  const store = options.store.database;
  const optedOut = (domain: string) => store.query((q) => isOptedOut(q, domain));
  const { fetch, lookup, close } = fetchingOf(options, publicUrl, optedOut);
  const stopping = new AbortController();
  const hostedFile = async (domain: string) => (await data.hostedFile(domain))?.file;
  const shared = sharedFiles(now);
  const origin: Origin = { fetch, signal: stopping.signal, publicUrl, hostedFile, shared };
  const queue = openQueue(store, CRAWL_TOPIC, { now });
  const telling = tellLog(log);
  const onFault = (error: unknown): void => log?.error({ err: error }, "the crawler met a fault");
  const requests = crawlRequests({ store, queue, limits, metrics, now, safety: safetyCheck(lookup) });
  const robots = robotsOf(fetch, now, stopping.signal);
  const shares = { store, data, limits, metrics, now, random };
  const { handle, effect } = crawlAttempts({ ...shares, origin, robots, log });
  const worker = workerOf(queue, { handle, effect }, { limits, now, onFault });
  const hosted = hostedChecks({ data, origin, metrics, recheckMs: limits.recheckMs, now });
  const onEnded = (domain: string): void =>
    log?.warn({ domain }, "no valid file for seven days: what the last one said has ended");
  const schedule = crawlSchedule({
    ...{ store, data, requests, limits, now, random, telling },
    ...{ checkHosted: hosted.due, onEnded, owner: randomUUID() },
  });
  const unwatch = metrics.watch(() => store.query(activeCount));
  let started = false;
  let stopped: Promise<void> | undefined;

  const { tracked, ended } = tracking();
  const stop = async (): Promise<void> => {
    stopping.abort();
    unwatch();
    if (started) await Promise.all([schedule.stop(), worker.stop()]);
    await ended();
    await queue.close();
    await close();
  };
  return {
    request: tracked(requests.request),
    read: requests.read,
    autoCrawl: tracked(requests.autoCrawl),
    pending: requests.pending,
    inspect: tracked(inspector(origin, { lookup, optedOut, now })),
    verifyOrigin: tracked(hosted.now),
    ...operating(store, now),
    start() {
      if (started || stopped !== undefined) return;
      started = true;
      worker.start();
      schedule.start();
    },
    stop: () => (stopped ??= stop()),
  };
}
