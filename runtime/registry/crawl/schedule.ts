/** Crawls whose time has come, and what is kept in order besides: by one instance at a time. */

import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { expirySteps } from "../../queue/expiry.js";
import {
  createPeriodic,
  eachAlone,
  type Periodic,
  type PeriodicStep,
  stepRunner,
  type Telling,
} from "../../queue/periodic.js";
import {
  activeOfReason,
  adoptPublishers,
  domainRow,
  dueDomains,
  dueTooLate,
  endTurn,
  removeRequests,
  removeRevocations,
  setPlace,
  takeTurn,
} from "../../store/registry-crawl.js";
import { lastAgent } from "../../store/registry-probes.js";
import { onlyNamedAfter, removeUnnamed, removeUnnamedAgents } from "../../store/registry-unnamed.js";
import type { Expiring } from "../../store/types.js";
import type { RegistryData } from "../types.js";
import type { Requests } from "./requests.js";
import { LONGEST_RECRAWL_MS } from "./settings.js";
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
/** Agents looked at in one go: more than files can name meanwhile. */
const UNNAMED_AGENTS = 20_000;
/** What a file said ends so long after it was last valid, in milliseconds (docs/protocol/files.md#what-a-crawl-does, 1). */
const STALE_MS = 7 * 86_400_000;
/** Publishers ended in one transaction. */
const STALE_PUBLISHERS = 20;
/** How long requests that ended can be read, in milliseconds (docs/protocol/files.md#what-a-crawl-does, 7). */
const HISTORY_MS = 30 * 86_400_000;

export interface ScheduleDependencies {
  readonly store: Database;
  readonly data: Pick<RegistryData, "crawlDue" | "endStale" | "recomputeEffect">;
  readonly requests: Requests;
  readonly limits: CrawlLimits;
  readonly checkHosted: () => Promise<void>;
  /** Told of each domain whose file came to its end. */
  readonly onEnded: (domain: string) => void;
  /** Names this instance. */
  readonly owner: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly telling: Telling;
}

/** Does work if this instance has the turn; one that died loses it after some pauses. */
async function inTurn(
  { store, owner, now }: ScheduleDependencies,
  name: string,
  everyMs: number,
  work: (place: number) => Promise<unknown>,
): Promise<void> {
  const at = now();
  const place = await store.write((q) => takeTurn(q, name, { owner, now: at, until: at + everyMs * 3 }));
  if (place !== undefined) await work(place);
}

/** Domains never crawled that nobody has queued, or whose crawl came to nothing a while ago. */
function* waiting(q: Query, domains: readonly string[], now: number): Coroutine<string[]> {
  const found: string[] = [];
  for (const domain of domains) {
    const row = yield* domainRow(q, domain);
    if (row === undefined || (row.active === null && row.next_at <= now)) found.push(domain);
  }
  return found;
}

async function plan(dependencies: ScheduleDependencies): Promise<void> {
  const { store, requests, limits, now } = dependencies;
  // Looking costs next to nothing; only who finds something takes the turn, which is a write.
  if ((await store.query((q) => dueDomains(q, now(), 1))).length === 0) return;
  await inTurn(dependencies, "recrawl", PLAN_MS, async () => {
    const room = limits.concurrency * AHEAD - (await store.query((q) => activeOfReason(q, "scheduled")));
    if (room <= 0) return;
    const due = await store.query((q) => dueDomains(q, now(), room));
    await eachAlone(due, ({ domain }) => requests.schedule(domain));
  });
}

const planSteps = (dependencies: ScheduleDependencies): readonly PeriodicStep[] => [
  {
    name: "queue the domains whose crawl is due",
    meanwhile: "those the error is about are crawled later, and answers go by their last crawl",
    run: () => plan(dependencies),
  },
];

const effectSteps = ({ data }: ScheduleDependencies): readonly PeriodicStep[] => [
  {
    // Without a turn: publishers are locked one transaction after the other, and whoever comes second finds nothing to do.
    name: "let authorizations begin and end",
    meanwhile: "answers name those whose time is over, or leave out those whose time has come",
    run: () => data.recomputeEffect(),
  },
];

/** Without a turn, too: rows that are gone are nobody else's. */
const tidySteps = ({ store, now }: ScheduleDependencies): readonly PeriodicStep[] => {
  const expiring: Expiring[] = [
    {
      what: "old crawl requests",
      remove: (at, limit) => store.write((q) => removeRequests(q, at - HISTORY_MS, limit)),
    },
    { what: "revocations that are over", remove: (at, limit) => store.write((q) => removeRevocations(q, at, limit)) },
  ];
  return expirySteps(expiring, now);
};

/** @param place where imported publishers were looked at last */
const upkeepSteps = (dependencies: ScheduleDependencies, place: number): readonly PeriodicStep[] => {
  const { store, limits, checkHosted, now, random } = dependencies;
  return [
    {
      name: "plan crawls of imported publishers",
      meanwhile: "new ones among them are not crawled",
      run: () =>
        store.write(function* (q) {
          const next = yield* adoptPublishers(q, place, { intervalMs: limits.recrawlMs, limit: ADOPT_ROWS });
          // What a claim named and is named no more goes with the claim, but where somebody else had hold of it.
          yield* removeUnnamed(q, yield* onlyNamedAfter(q, place, ADOPT_ROWS));
          yield* setPlace(q, "upkeep", next);
        }),
    },
    {
      name: "remove agents that nobody names any more",
      meanwhile: "they take room",
      run: () =>
        store.write(function* (q) {
          // Anywhere: no place is remembered, and all have their turn in time.
          const after = Math.floor(random() * ((yield* lastAgent(q)) + 1)) - UNNAMED_AGENTS / 2;
          yield* removeUnnamedAgents(q, { after, limit: UNNAMED_AGENTS });
        }),
    },
    {
      name: "take up domains that a clock ahead put off",
      meanwhile: "those the error is about are crawled when their time comes",
      run: () => store.write((q) => dueTooLate(q, now() + 2 * Math.max(LONGEST_RECRAWL_MS, limits.recrawlMs), now())),
    },
    {
      name: "queue members' domains that were never crawled",
      meanwhile: "those the error is about are not known",
      run: () => scheduleMembers(dependencies),
    },
    {
      name: "end what files said that have been gone for long",
      meanwhile: "answers still go by them",
      run: () => endStale(dependencies),
    },
    {
      name: "ask origins whether they point at hosted files",
      meanwhile: "those the error is about keep their last verdict",
      run: checkHosted,
    },
  ];
};

async function scheduleMembers({ store, data, requests, now }: ScheduleDependencies): Promise<void> {
  // Nothing was crawled before 1970: these are the members' domains that never were.
  const never = await data.crawlDue(0, MEMBER_DOMAINS);
  const domains = await store.query((q) => waiting(q, never, now()));
  await eachAlone(domains, (domain) => requests.schedule(domain));
}

async function endStale({ data, onEnded, now }: ScheduleDependencies): Promise<void> {
  let stale: string[];
  do {
    stale = await data.endStale(now() - STALE_MS, STALE_PUBLISHERS);
    for (const domain of stale) onEnded(domain);
  } while (stale.length === STALE_PUBLISHERS);
}

export function crawlSchedule(dependencies: ScheduleDependencies): Periodic {
  const { store, owner, telling, random } = dependencies;
  // Pauses vary by a quarter: instances that were started together do not go on asking together.
  const periodic = (everyMs: number, steps: readonly PeriodicStep[]): Periodic =>
    createPeriodic({ pauseMs: () => everyMs * (0.75 + 0.5 * random()), steps, telling });
  const runSteps = stepRunner(telling);
  const upkeep: PeriodicStep = {
    name: "take the turn of the registry's upkeep",
    meanwhile: "crawls are not planned beyond those that are due, and what is gone for long still counts",
    run: (stopping) =>
      inTurn(dependencies, "upkeep", UPKEEP_MS, (place) => runSteps(upkeepSteps(dependencies, place), stopping)),
  };
  const all = [
    periodic(PLAN_MS, planSteps(dependencies)),
    periodic(PLAN_MS, effectSteps(dependencies)),
    // By themselves: where there is much to remove, they come sooner.
    periodic(UPKEEP_MS, tidySteps(dependencies)),
    periodic(UPKEEP_MS, [upkeep]),
  ];
  const giveBack = (name: string): PeriodicStep => ({
    name: `give back the turn ${name}`,
    meanwhile: "others wait until it is over",
    run: () => store.write((q) => endTurn(q, name, owner)),
  });
  return {
    start() {
      for (const one of all) one.start();
    },
    async stop() {
      await Promise.all(all.map((one) => one.stop()));
      await runSteps([giveBack("recrawl"), giveBack("upkeep")]);
    },
  };
}
