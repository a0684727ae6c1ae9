/** Commands of `./run` that are not adbind's own: what they take, and what is said of a mistake. */
import { Command, InvalidArgumentError } from "commander";
import { AdbindError, type ErrorCode } from "../runtime/errors.js";

/** What the user gave is wrong, not what is judged. */
const asked: ReadonlySet<ErrorCode> = new Set([
  "usage",
  "release_unreadable",
  "suite_unreadable",
  "file_unusable",
  "address_unusable",
]);

/** Exits with 2, as for an option that is not there, after a line on what was asked wrongly; with 1 after any other error. */
function end(name: string, error: unknown): never {
  const wrongly = error instanceof AdbindError && asked.has(error.code);
  console.error(wrongly ? `${name}: ${error.message}` : error);
  process.exit(wrongly ? 2 : 1);
}

export function script(name: string, description: string): Command {
  process.once("uncaughtException", (error) => end(name, error));
  return new Command(`./run ${name}`)
    .description(description)
    .allowExcessArguments(false)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
}

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
