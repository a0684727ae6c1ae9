/** Commands of `./run` that are not adbind's own: what they take, and what is said of a mistake. */
import { Command, InvalidArgumentError } from "commander";

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
