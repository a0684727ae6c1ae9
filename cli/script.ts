/** Commands of `./run` that are not adbind's own: what they take, and what is said of a mistake. */
import { Command, InvalidArgumentError, Option } from "commander";

export const script = (name: string, description: string): Command =>
  new Command(`./run ${name}`).description(description).allowExcessArguments(false).showHelpAfterError();

/** A number above 0. */
export function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0) || !Number.isFinite(number)) throw new InvalidArgumentError("It takes a number above 0.");
  return number;
}

/** A whole number above 0. */
export function count(text: string): number {
  const number = positive(text);
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError("It takes a whole number above 0.");
  return number;
}

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
