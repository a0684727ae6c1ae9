/** Many agents at once: who answers in time is heard, who does not is named, and nobody waits for the slowest. */
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { timerMs } from "../timers.js";
import { agentName, type NamedAgent } from "./agents.js";
import type { Buyer } from "./create.js";
import { badBuyerOption } from "./settings.js";
import type { AgentRef, BuyerOptions } from "./types.js";

/** What one agent came to. */
export type EachAnswer<T> =
  | { readonly agent: string; readonly ok: true; readonly value: T; readonly tookMs: number }
  /** `late`: it had not answered by the deadline, and may have acted all the same. */
  | {
      readonly agent: string;
      readonly ok: false;
      readonly late: boolean;
      readonly error: Error;
      readonly tookMs: number;
    };

/** How several agents are asked. `deadline` is milliseconds. */
export interface EachOptions {
  /** How long all of it may take, in milliseconds. Default 30,000. */
  readonly deadline?: number;
  /** Agents called at the same time. Default 16. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

/** Calls several agents at once, each with a buyer of its own. */
export interface Buyers<R extends Release = Release> {
  /** Names of the agents, as they were given. */
  readonly names: readonly string[];
  /** @throws AdbindError `buyer_option_invalid` for a name that is none */
  of(agent: string): Buyer<R>;
  /**
   * Calls agents side by side. Answers come in the order of the names, those that failed or were late among them.
   * @param agents names, or `all`
   * @throws AdbindError `buyer_option_invalid` for a name that is none, and for times and numbers that are none
   * @param call is given the buyer of each agent and a signal that ends with the deadline: hand it to what is called
   */
  each<T>(
    agents: readonly string[] | "all",
    call: (buyer: Buyer<R>, use: { readonly agent: string; readonly signal: AbortSignal }) => Promise<T>,
    options?: EachOptions,
  ): Promise<readonly EachAnswer<T>[]>;
  close(): Promise<void>;
}

/**
 * Options of every buyer; `agents` by name, as `agentsFrom` gives them or as a URL each. Agents of several sellers have `webhooks` of
 * their own each; those that are given for all need a `sender`.
 */
export type BuyersOptions<R extends Release> = Omit<BuyerOptions<R>, "agent"> & {
  readonly agents: Readonly<Record<string, AgentRef | NamedAgent>>;
};

const DEADLINE_MS = 30_000;
const CONCURRENCY = 16;

/** None at a time would be nobody called, and nothing said of it. */
function checkNumbers({ deadline, concurrency }: { readonly deadline: number; readonly concurrency: number }): void {
  if (!(concurrency >= 1)) throw badBuyerOption("concurrency", "give a number from 1");
  if (!(deadline > 0)) throw badBuyerOption("deadline", "give milliseconds, above 0");
}

/** Resolves when the signal is aborted. */
const ended = (signal: AbortSignal): Promise<"late"> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve("late");
    signal.addEventListener("abort", () => resolve("late"), { once: true });
  });

async function one<T>(agent: string, job: () => Promise<T>, signal: AbortSignal): Promise<EachAnswer<T>> {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  const late = (): EachAnswer<T> => ({
    ...{ agent, ok: false, late: true, tookMs: took() },
    error: new AdbindError("agent_late", `${agent} had not answered by the deadline`, {
      where: agent,
      remedy: "give a longer deadline, or go on without it",
    }),
  });
  if (signal.aborted) return late();
  try {
    const value = await Promise.race([job().then((value) => ({ value })), ended(signal)]);
    return value === "late" ? late() : { agent, ok: true, value: value.value, tookMs: took() };
  } catch (error) {
    if (signal.aborted) return late();
    return {
      agent,
      ok: false,
      late: false,
      error: error instanceof Error ? error : new Error(String(error)),
      tookMs: took(),
    };
  }
}

type GivenAgent = AgentRef | NamedAgent;

/** What an agent has for itself. `undefined` says nothing: what is given for all stays. */
function ownOptions(given: GivenAgent): Omit<NamedAgent, "agent"> & { readonly agent: AgentRef } {
  if (typeof given !== "object" || !("agent" in given)) return { agent: given };
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(said) as Omit<NamedAgent, "agent">), agent: given.agent };
}

function urlIn(given: GivenAgent): string {
  const ref = ownOptions(given).agent;
  return typeof ref === "string" ? ref : "url" in ref ? ref.url : ref.agent_url;
}

/**
 * A receiver's route speaks for one sender, which is the agent's URL where nothing else is said: the second agent there would be
 * refused with its first call that takes long.
 */
function checkRoutes(agents: Readonly<Record<string, GivenAgent>>, shared: BuyerOptions["webhooks"]): void {
  if (shared === undefined || shared.sender !== undefined) return;
  const there = Object.entries(agents).filter(([, given]) => ownOptions(given).webhooks === undefined);
  if (new Set(there.map(([, given]) => urlIn(given))).size < 2) return;
  const names = there.map(([name]) => name).join(", ");
  throw badBuyerOption("webhooks", `one route speaks for one seller, and ${names} would share it: give each its own`);
}

/** Makes buyers of many agents, by what makes one. @throws AdbindError `buyer_option_invalid` */
export function createBuyersBy<R extends Release>(
  make: (options: BuyerOptions<R>) => Buyer<R>,
  { agents, ...shared }: BuyersOptions<R>,
): Buyers<R> {
  checkRoutes(agents, shared.webhooks);
  const made = new Map<string, Buyer<R>>();
  const byName = new Map<string, { readonly name: string; readonly given: GivenAgent }>();
  for (const [name, given] of Object.entries(agents)) byName.set(agentName(name), { name, given });
  const of = (agent: string): Buyer<R> => {
    const known = byName.get(agentName(agent));
    if (known === undefined)
      throw badBuyerOption("agents", `there is no ${agent}; there are ${[...byName.keys()].join(", ")}`);
    const { name, given } = known;
    const buyer = made.get(name) ?? make({ ...shared, ...ownOptions(given) } as BuyerOptions<R>);
    made.set(name, buyer);
    return buyer;
  };
  const names = [...byName.values()].map(({ name }) => name);
  // What cannot be an agent is told now, and not at the first call of it.
  for (const name of names) of(name);
  return {
    names,
    of,
    async each<T>(
      chosen: readonly string[] | "all",
      call: (buyer: Buyer<R>, use: { readonly agent: string; readonly signal: AbortSignal }) => Promise<T>,
      { deadline = DEADLINE_MS, concurrency = CONCURRENCY, signal: given }: EachOptions = {},
    ) {
      checkNumbers({ deadline, concurrency });
      const wanted = chosen === "all" ? names : chosen;
      const buyers = wanted.map((agent) => [agent, of(agent)] as const);
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timerMs(deadline));
      const signal = given === undefined ? limit.signal : AbortSignal.any([given, limit.signal]);
      const answers: EachAnswer<T>[] = [];
      let next = 0;
      const work = async (): Promise<void> => {
        for (let at = next++; at < buyers.length; at = next++) {
          const [agent, buyer] = buyers[at]!;
          answers[at] = await one(agent, () => call(buyer, { agent, signal }), signal);
        }
      };
      try {
        await Promise.all(Array.from({ length: Math.min(concurrency, buyers.length) }, work));
      } finally {
        clearTimeout(timer);
      }
      return answers;
    },
    async close() {
      for (const buyer of made.values()) await buyer.close();
    },
  };
}
