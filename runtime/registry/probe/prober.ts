/** Asks the agents that everybody may see, each every so often: one instance at a time does it, and never many of one owner. */
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { createGuardedFetch, type Fetcher, type Lookup, registrableDomain } from "../../net/index.js";
import { createPeriodic, eachAlone, type Periodic, stepRunner, tellLog } from "../../queue/periodic.js";
import { endTurn, setPlace, takeTurn } from "../../store/registry-crawl.js";
import {
  dueProbes,
  lastAgent,
  type ProbeRow,
  probesByOwner,
  probesTooLate,
  putProbes,
  removeProbes,
  unprobed,
} from "../../store/registry-probes.js";
import { type ProbedAgent, probeAgent } from "./agent.js";

const TURN = "probes";
const LOOK_MS = 5_000;
/** A turn lasts for one look and the longest that agents may take, in milliseconds. */
const TURN_MS = 120_000;
/** Numbers of agents looked through for new ones at each look. */
const WINDOW = 2_000;
/** How often that is done, in milliseconds. */
const ADOPT_MS = 60_000;
/** Agents asked at each look, one an owner, and at once. */
const BATCH = 40;
const AT_ONCE = 10;
/** How much later the next one of an owner is asked, in milliseconds. */
const APART_MS = 30_000;
/**
 * Agents asked of one registrable domain, members' left out: files name them, and one that names thousands at somebody
 * else's address must not have this registry ask there for it.
 */
const PER_OWNER = 20;
/** How often an agent is asked, in milliseconds; one that is not online ever less often, up to the longest. */
const EVERY_MS = 6 * 3_600_000;
const LONGEST_MS = 7 * 86_400_000;

/** Sent to agents with the registry's address, so that their operators know whom to ask. */
const USER_AGENT = "adbind-registry";

export interface ProberOptions {
  readonly store: Database;
  /** Default a guarded fetch with production rules: agents' URLs are written by anybody. */
  readonly fetch?: Fetcher | undefined;
  readonly lookup?: Lookup | undefined;
  /** Origin of this registry. */
  readonly publicUrl: string;
  readonly log: Logger | undefined;
  readonly now: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** How often is looked for agents that are due, in milliseconds. Default 5,000. */
  readonly lookMs?: number;
}

type ProberDependencies = Pick<ProberOptions, "store" | "now" | "random"> & { readonly fetch: Fetcher };

export interface Prober extends Periodic {
  /** One look: takes up new agents, and asks those that are due. */
  look(): Promise<void>;
}

const ownerOf = (url: string): string => {
  const { hostname } = new URL(url);
  return registrableDomain(hostname) ?? hostname;
};

/** Takes up agents of a window that nobody has asked yet. @returns where the next window begins */
function* adopt(q: Query, place: number, now: number): Coroutine<number> {
  const found = yield* unprobed(q, place, place + WINDOW);
  const owners = new Map<string, number>();
  const urls = found.map((one) => ({ ...one, owner: ownerOf(one.url) }));
  for (const { owner, n } of yield* probesByOwner(q, [...new Set(urls.map(({ owner }) => owner))]))
    owners.set(owner, Number(n));
  const rows: ProbeRow[] = [];
  for (const { id, member, owner } of urls) {
    const known = owners.get(owner) ?? 0;
    if (member === null && known >= PER_OWNER) continue;
    owners.set(owner, known + 1);
    rows.push({ ...unasked, agent: id, owner, next_at: now });
  }
  yield* putProbes(q, rows);
  return place + WINDOW >= (yield* lastAgent(q)) ? 0 : place + WINDOW;
}

const unasked = {
  ...{ online: null, probed_at: null, response_ms: null, last_seen: null, transport: null },
  ...{ tools: null, tools_count: null, capabilities: null, error: null, misses: 0 },
} as const;

/** What is kept of an answer: one that asks for credentials now keeps what it said before. */
function answered(before: ProbeRow, probed: ProbedAgent, now: number, random: () => number): ProbeRow {
  const misses = probed.online ? 0 : before.misses + 1;
  const pause = Math.min(EVERY_MS * 2 ** Math.max(0, misses - 1), LONGEST_MS);
  const said = probed.tools !== null;
  return {
    agent: before.agent,
    owner: before.owner,
    online: probed.online ? 1 : 0,
    probed_at: now,
    response_ms: probed.responseMs,
    last_seen: probed.online ? now : before.last_seen,
    transport: probed.transport ?? before.transport,
    tools: said ? JSON.stringify(probed.tools) : before.tools,
    tools_count: said ? probed.toolsCount : before.tools_count,
    capabilities: said
      ? probed.capabilities === null
        ? null
        : JSON.stringify(probed.capabilities)
      : before.capabilities,
    error: probed.error,
    misses,
    next_at: Math.round(now + pause * (0.9 + 0.2 * random())),
  };
}

async function askDue(
  { store, fetch, now, random = Math.random }: ProberDependencies,
  signal: AbortSignal,
): Promise<void> {
  const due = await store.query((q) => dueProbes(q, now(), BATCH));
  const hidden = due.filter(({ shown }) => shown === 0).map(({ agent }) => agent);
  const byOwner = Map.groupBy(
    due.filter(({ shown }) => shown === 1),
    ({ owner }) => owner,
  );
  // They are one machine as often as not; and an owner of many must not keep the others waiting.
  const later = [...byOwner.values()].flatMap((agents) =>
    agents.slice(1).map(({ url: _, shown: __, ...row }, at) => ({ ...row, next_at: now() + APART_MS * (at + 1) })),
  );
  if (hidden.length + later.length > 0)
    await store.write(function* (q) {
      yield* removeProbes(q, hidden);
      yield* putProbes(q, later);
    });
  const next = [...byOwner.values()].map(([first]) => first!).values();
  // One iterator: each of the turns takes the next agent of all; what cannot be kept of one is no matter of the others.
  const turn = (): Promise<void> =>
    eachAlone(next, async (before) => {
      if (signal.aborted) return;
      const probed = await probeAgent({ fetch, now, signal }, before.url);
      // What was broken off says nothing of the agent.
      if (!signal.aborted) await store.write((q) => putProbes(q, [answered(before, probed, now(), random)]));
    });
  const length = Math.min(AT_ONCE, byOwner.size);
  await eachAlone(await Promise.allSettled(Array.from({ length }, turn)), async (turned) => {
    if (turned.status === "rejected") throw turned.reason;
  });
}

export function createProber({
  fetch: given,
  lookup,
  publicUrl,
  log,
  lookMs = LOOK_MS,
  ...rest
}: ProberOptions): Prober {
  const own =
    given === undefined
      ? createGuardedFetch({ userAgent: `${USER_AGENT} (+${publicUrl})`, ...(lookup !== undefined && { lookup }) })
      : undefined;
  const dependencies: ProberDependencies = { ...rest, fetch: given ?? own! };
  const { store, now } = dependencies;
  const owner = randomUUID();
  const stopping = new AbortController();
  let adoptedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const at = now();
    // One that was done in a time to come was done by a clock that has been set back.
    const adopts = at >= adoptedAt + ADOPT_MS || at < adoptedAt;
    // Looking costs next to nothing; only who has something to do takes the turn, which is a write.
    if (!adopts && (await store.query((q) => dueProbes(q, at, 1))).length === 0) return;
    const place = await store.write((q) => takeTurn(q, TURN, { owner, now: at, until: at + TURN_MS }));
    if (place === undefined) return;
    if (adopts)
      await store.write(function* (q) {
        yield* setPlace(q, TURN, yield* adopt(q, place, at));
        yield* probesTooLate(q, at + 2 * LONGEST_MS, at);
      });
    if (adopts) adoptedAt = at;
    await askDue(dependencies, stopping.signal);
  };
  const telling = tellLog(log);
  const periodic = createPeriodic({
    pauseMs: lookMs,
    firstPause: true,
    steps: [{ name: "ask agents how they are", meanwhile: "what is told of them is older", run: look }],
    telling,
  });
  const giveBack = {
    name: "give back the turn of asking agents",
    meanwhile: "others wait until it is over",
    run: () => store.write((q) => endTurn(q, TURN, owner)),
  };
  let started = false;
  return {
    look,
    start() {
      started = true;
      periodic.start();
    },
    async stop() {
      stopping.abort();
      if (started) {
        await periodic.stop();
        // A store that is away keeps nobody from stopping.
        await stepRunner(telling)([giveBack]);
      }
      await own?.close();
    },
  };
}
