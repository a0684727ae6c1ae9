/** Options that the runs with faults share. */
import { Option } from "commander";
import { close } from "../../cli/closing-line.js";
import { count } from "../../cli/script.js";

export const killsOption = (usual: number): Option =>
  new Option("--kills <n>", "processes to kill").argParser(count).default(usual);

const engines = ["sqlite", "postgres"] as const;

/** `engine` of its values is one of the databases; without it both are meant. */
export const engineOption = (): Option => new Option("--engine <name>", "one database only").choices(engines);

export const chosen = (only: (typeof engines)[number] | undefined): readonly (typeof engines)[number][] =>
  only === undefined ? engines : [only];

/** Ends a run: kills that were made, and faults that the books show. */
export const closeFaults = (kills: number, faults: number): void => close({ passed: kills, failed: faults }, "kills");

/** Values of `killsOption` and `engineOption`. */
export interface FaultsValues {
  readonly kills: number;
  readonly engine?: (typeof engines)[number];
}
