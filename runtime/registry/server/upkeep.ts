/** What a registry's server keeps in order beside answering. */
import { expirySteps } from "../../queue/expiry.js";
import { createPeriodic, type Periodic, tellLog } from "../../queue/periodic.js";
import type { RegistryServerDependencies } from "./api-request.js";

/** How often, in milliseconds. */
const UPKEEP_MS = 60_000;
/** How far a replica that searches ask can be read is told so often, in milliseconds. */
const MARK_MS = 1_000;

/** Removes what has expired, and lets authorizations begin and end, from `start` to `stop`. */
export const registryUpkeep = ({
  access,
  data,
  log,
  now,
}: Pick<RegistryServerDependencies, "access" | "data" | "log" | "now">): Periodic =>
  createPeriodic({
    pauseMs: UPKEEP_MS,
    steps: [
      ...expirySteps(access.expiring, now),
      {
        // A crawler does it sooner; without one authorizations begin and end all the same.
        name: "let authorizations begin and end",
        meanwhile: "answers name those whose time is over, or leave out those whose time has come",
        run: () => data.recomputeEffect(),
      },
      {
        name: "end what is known of owners who opted out",
        meanwhile: "some of it is told still, where whoever noted the wish was killed over it",
        run: () => data.endOptedOut(),
      },
      {
        name: "forget what ended long ago",
        meanwhile: "the feed tells what ended for longer than it must",
        run: () => data.forgetGone(),
      },
    ],
    telling: tellLog(log),
  });

/** Tells replicas how far they can be read, from `start` to `stop`. */
export const markKeeping = ({ data, log }: Pick<RegistryServerDependencies, "data" | "log">): Periodic =>
  createPeriodic({
    pauseMs: MARK_MS,
    steps: [
      {
        name: "tell replicas how far they can be read",
        meanwhile: "searches that ask a replica do not see what is new",
        run: async () => {
          await data.tellMark();
          return 0;
        },
      },
    ],
    telling: tellLog(log),
  });
