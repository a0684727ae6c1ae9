#!/usr/bin/env node
/** argv -> functions. A command's module is imported when it is called, so that `generate` never loads a database. */
import nodeModule from "node:module";
import { Command, CommanderError } from "commander";
import { generatorName } from "../generator/emit/disk.js";
import { commands } from "./commands.js";
import { exitCodes, reportFailure } from "./failure.js";
import { printJson } from "./output.js";

// The type compiler alone is 10 MB of JavaScript; from the second run on, Node reads it compiled. Deno has
// the module without this.
nodeModule.enableCompileCache?.();

const HELP = `
Exit codes: 0 done and nothing wrong; 1 it failed, or found what it was asked to look for; 2 the command line is wrong.
A failure is a line on stderr; with --json it is an object on stdout too.

Environment:
  ADBIND_STORE   the store of commands that take --store, so that no password shows among the processes
  ADBIND_DEBUG   with 1, a failure prints its stack`;

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("adbind")
    .description("Bindings and runtime for advertising agents, from protocol releases")
    .version(generatorName().split(" ")[1]!)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "adbind: ")) })
    .addHelpText("after", HELP)
    .showHelpAfterError("(adbind --help lists the commands)");
  for (const [name, entry] of Object.entries(commands)) {
    const command = program.command(name).description(entry.help);
    command.showHelpAfterError(`(adbind ${name} --help says more)`);
    if (name === asked || asked === "help") (await entry.load()).register(command);
  }
  await program.parseAsync([...argv], { from: "user" });
}

const argv = process.argv.slice(2);
const asked = argv.find((word) => !word.startsWith("-"));
const json = argv.includes("--json");

/** Commander has printed what is wrong, or the help that was asked for. */
function endOfParsing(error: CommanderError): void {
  process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (!json || error.exitCode === 0) return;
  const message = error.message.replace(/^error: /, "").replace(/^\(outputHelp\)$/, "no command was given");
  const known = asked !== undefined && Object.hasOwn(commands, asked);
  const remedy = known ? `adbind ${asked} --help says more` : "adbind --help lists the commands";
  printJson({ ok: false, error: { code: "usage", message, remedy } });
}

/** What nobody awaited must not end in a stack either. */
function endNow(error: unknown): never {
  reportFailure(error, json);
  process.exit();
}
process.on("uncaughtException", endNow);
process.on("unhandledRejection", endNow);

// A reader that has seen enough (`| head`) is no failure; a disk that takes no more is one.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  reportFailure(error, false);
  process.exit();
});
// Nobody is left to tell.
process.stderr.on("error", () => undefined);

try {
  await main(argv);
} catch (error) {
  if (error instanceof CommanderError) endOfParsing(error);
  else reportFailure(error, json);
}
