/** Options that the runs with faults share. */
import { Option } from "commander";
import { willClose } from "../../cli/closing-line.js";
import { count } from "../../cli/script.js";

export const killsOption = (usual: number): Option =>
  new Option("--kills <n>", "processes to kill").argParser(count).default(usual);

const engines = ["sqlite", "postgres"] as const;

/** `engine` of its values is one of the databases; without it both are meant. */
export const engineOption = (): Option => new Option("--engine <name>", "one database only").choices(engines);

export const chosen = (only: (typeof engines)[number] | undefined): readonly (typeof engines)[number][] =>
  only === undefined ? engines : [only];

/**
 * For a run that knows what it is asked for.
 * @param made what is counted of it: kills, if nothing is said
 * @returns ends it: what was made, faults that the books show, and what was passed over
 */
export function closingFaults(made = "kills"): (passed: number, faults: number, skipped?: number) => void {
  const close = willClose(made);
  return (passed, failed, skipped = 0) => close({ passed, failed, skipped });
}

/** Values of `killsOption` and `engineOption`. */
export interface FaultsValues {
  readonly kills: number;
  readonly engine?: (typeof engines)[number];
}
