/** Options that the runs with faults share. */
import { Option } from "commander";
import { count } from "../../cli/script.js";

export const killsOption = (usual: number): Option =>
  new Option("--kills <n>", "processes to kill").argParser(count).default(usual);

const engines = ["sqlite", "postgres"] as const;

/** `engine` of its values is one of the databases; without it both are meant. */
export const engineOption = (): Option => new Option("--engine <name>", "one database only").choices(engines);

export const chosen = (only: (typeof engines)[number] | undefined): readonly (typeof engines)[number][] =>
  only === undefined ? engines : [only];

/** Values of `killsOption` and `engineOption`. */
export interface FaultsValues {
  readonly kills: number;
  readonly engine?: (typeof engines)[number];
}
