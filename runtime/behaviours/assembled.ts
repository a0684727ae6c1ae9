/** A seller whose parts are put together: started, carried on, and closed in order. */
import { randomUUID } from "node:crypto";
import { createPeriodic, tellLog } from "../queue/periodic.js";
import type { Seller } from "../seller/create.js";
import type { SellerOptions, SellerStore } from "../seller/types.js";
import type { Sender } from "../sender/sender.js";
import type { ServedAreas } from "./areas.js";
import type { Upkeep } from "./frame/behaviour.js";
import { type BehaviourSettings, type CallFacts, standingCall } from "./frame/call.js";
import { healthRoutes } from "./health.js";
import { decideOrder, type OrderDecision } from "./media-buys/decide.js";
import type { Metrics } from "./metrics.js";

/** A seller with its behaviours, before or after it serves. */
export interface Assembled {
  readonly seller: Seller<never>;
  /** Tools that the specialisms name and nobody answers here. */
  readonly missing: readonly string[];
  /** Does work on a principal's behalf, and commits what it wrote. */
  readonly onBehalf: Upkeep["onBehalf"];
  /** Books or rejects an order that waits for a signature; see `Approvals`. */
  decide(decision: OrderDecision): Promise<void>;
  /** Listens, delivers webhooks, and carries on what was not finished. */
  start: Seller["start"];
  /** The same inside a server of somebody else's. */
  mount: Seller["mount"];
  storeIdentity: Seller["storeIdentity"];
  /** Waits for what is under way; closes the store, unless it was handed over open. */
  close(): Promise<void>;
}

export interface AssemblyParts {
  readonly seller: Seller<never>;
  readonly sender: Sender;
  readonly settings: BehaviourSettings;
  readonly served: ServedAreas;
  readonly missing: readonly string[];
  readonly store: SellerStore;
  /** The store was opened here, and is closed here. */
  readonly own: boolean;
  readonly metrics: Metrics | undefined;
  readonly options: Pick<SellerOptions, "release" | "releases" | "mode" | "logger" | "now" | "uuid">;
}

/** How often what waits is looked at, in milliseconds. */
const UPKEEP_MS = 500;

export function assembled(parts: AssemblyParts): Assembled {
  const { seller, sender, settings, served, missing, store, own, metrics, options } = parts;
  const { release, mode = "production", logger, now = Date.now, uuid = randomUUID } = options;
  const facts: Omit<CallFacts, "effect" | "principal"> = { release, mode, logger, now, uuid, sender };
  const onBehalf: Upkeep["onBehalf"] = (who, work, commit) => {
    const { principal, release: version } = typeof who === "string" ? { principal: who, release: "" } : who;
    const served = options.releases?.find((one) => one.version === version) ?? release;
    return standingCall(settings, { ...facts, principal, release: served }, work, commit);
  };
  const task: Upkeep["task"] = (id) => seller.task(id);
  const upkeep = createPeriodic({
    pauseMs: UPKEEP_MS,
    steps: served.areas.flatMap(({ area, upkeep: run }) =>
      run === undefined
        ? []
        : [
            {
              name: `carry on what ${area} left unfinished`,
              meanwhile: "it waits",
              run: (stopping: AbortSignal) => run({ settings, stopping, task, onBehalf }),
            },
          ],
    ),
    telling: tellLog(logger),
  });
  for (const { routes } of served.areas) routes?.(seller.app, settings);
  healthRoutes(seller.app, store);
  const begin = (): void => {
    sender.start();
    upkeep.start();
  };
  return {
    seller,
    missing,
    onBehalf,
    storeIdentity: () => seller.storeIdentity(),
    decide: (decision) => decideOrder({ onBehalf, task }, decision),
    async start(where) {
      const address = await seller.start(where);
      begin();
      return address;
    },
    async mount() {
      const mounted = await seller.mount();
      begin();
      return mounted;
    },
    async close() {
      await upkeep.stop();
      await seller.close();
      await sender.stop();
      settings.upstream?.stop();
      await metrics?.stop();
      if (own) await store.close();
    },
  };
}
