/** Crawls whose time has come, and what is kept in order besides: by one instance at a time. */
import { createTimer, type Timer } from "../../queue/timer.js";
import type { Flow } from "../../signing/flow.js";
import {
  activeOfReason,
  adoptPublishers,
  type CrawlStore,
  domainRow,
  dueDomains,
  endTurn,
  type Rows,
  setPlace,
  sweepCrawl,
  takeTurn,
} from "../../store/registry-crawl.js";
import type { RegistryData } from "../types.js";
import type { Requests } from "./requests.js";
import type { CrawlLimits } from "./types.js";

/** How often is looked for domains that are due, and for authorizations that begin or end, in milliseconds. */
const PLAN_MS = 2_000;
/** How often the rest is done, in milliseconds. */
const UPKEEP_MS = 60_000;
/** Crawls that wait by themselves, for each that may run: whoever asks for one waits behind these at most. */
const AHEAD = 2;
/** Imported publishers looked at in one go, and members' domains that were never crawled. */
const ADOPT_ROWS = 2_000;
const MEMBER_DOMAINS = 100;
/** What a file said ends so long after it was last valid, in milliseconds (registry-facts.md 7). */
const STALE_MS = 7 * 86_400_000;
/** Publishers ended in one transaction. */
const STALE_PUBLISHERS = 20;
/** How long requests that ended can be read, in milliseconds (registry-facts.md 7). */
const HISTORY_MS = 30 * 86_400_000;

export interface ScheduleParts {
  readonly store: CrawlStore;
  readonly data: Pick<RegistryData, "crawlDue" | "endStale" | "settleEffect">;
  readonly requests: Requests;
  readonly limits: CrawlLimits;
  readonly checkHosted: () => Promise<void>;
  /** Told of each domain whose file came to its end. */
  readonly onEnded: (domain: string) => void;
  /** Names this instance. */
  readonly owner: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly onFault: (error: unknown) => void;
}

/** Does work if this instance has the turn; one that died loses it after some pauses. */
async function inTurn(
  { store, owner, now }: ScheduleParts,
  name: string,
  everyMs: number,
  work: (place: number) => Promise<void>,
): Promise<void> {
  const at = now();
  const place = await store.write((q) => takeTurn(q, name, { owner, now: at, until: at + everyMs * 3 }));
  if (place !== undefined) await work(place);
}

/** Domains never crawled that nobody has queued, or whose crawl came to nothing a while ago. */
function* waiting(q: Rows, domains: readonly string[], now: number): Flow<string[]> {
  const found: string[] = [];
  for (const domain of domains) {
    const row = yield* domainRow(q, domain);
    if (row === undefined || (row.active === null && row.next_at <= now)) found.push(domain);
  }
  return found;
}

async function plan(parts: ScheduleParts): Promise<void> {
  const { store, requests, limits, now } = parts;
  // Looking costs next to nothing; only who finds something takes the turn, which is a write.
  if ((await store.peek((q) => dueDomains(q, now(), 1))).length === 0) return;
  await inTurn(parts, "recrawl", PLAN_MS, async () => {
    const room = limits.concurrency * AHEAD - (await store.peek((q) => activeOfReason(q, "scheduled")));
    if (room <= 0) return;
    for (const { domain } of await store.peek((q) => dueDomains(q, now(), room))) await requests.schedule(domain);
  });
}

/** Without a turn: publishers are locked one transaction after the other, and whoever comes second finds nothing to do. */
async function settleEffect({ data }: ScheduleParts): Promise<void> {
  await data.settleEffect();
}

async function upkeep(parts: ScheduleParts): Promise<void> {
  const { store, data, requests, limits, checkHosted, onEnded, now } = parts;
  await inTurn(parts, "upkeep", UPKEEP_MS, async (place) => {
    await store.write(function* (q) {
      const next = yield* adoptPublishers(q, place, { intervalMs: limits.recrawlMs, limit: ADOPT_ROWS });
      yield* setPlace(q, "upkeep", next);
      yield* sweepCrawl(q, now() - HISTORY_MS, now());
    });
    // Nothing was crawled before 1970: these are the members' domains that never were.
    const never = await data.crawlDue(0, MEMBER_DOMAINS);
    for (const domain of await store.peek((q) => waiting(q, never, now()))) await requests.schedule(domain);
    let stale: string[];
    do {
      stale = await data.endStale(now() - STALE_MS, STALE_PUBLISHERS);
      for (const domain of stale) onEnded(domain);
    } while (stale.length === STALE_PUBLISHERS);
    await checkHosted();
  });
}

export function crawlSchedule(parts: ScheduleParts): Timer {
  // Pauses vary by a quarter: instances that were started together do not go on asking together.
  const timer = (everyMs: number, work: () => Promise<void>): Timer =>
    createTimer(() => everyMs * (0.75 + 0.5 * parts.random()), work, parts.onFault);
  const timers = [
    timer(PLAN_MS, () => plan(parts)),
    timer(PLAN_MS, () => settleEffect(parts)),
    timer(UPKEEP_MS, () => upkeep(parts)),
  ];
  return {
    start() {
      for (const one of timers) one.start();
    },
    async stop() {
      await Promise.all(timers.map((one) => one.stop()));
      const { store, owner, onFault } = parts;
      await store
        .write(function* (q) {
          yield* endTurn(q, "recrawl", owner);
          yield* endTurn(q, "upkeep", owner);
        })
        .catch(onFault);
    },
  };
}
