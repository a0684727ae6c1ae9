#!/usr/bin/env node
/** argv -> functions. A command's module is imported when it is called, so that `generate` never loads a database. */
import { enableCompileCache } from "node:module";
import { Command, CommanderError } from "commander";
import { generatorName } from "../generator/emit/disk.js";
import { AdbindError } from "../runtime/errors.js";

// The type compiler alone is 10 MB of JavaScript; from the second run on, Node reads it compiled.
enableCompileCache();

/** Name -> one line of help, and the module whose `register(command)` declares arguments, options and the action. */
const commands = {
  generate: { help: "typed bindings from releases", load: () => import("./generate.js") },
  lint: { help: "a release against the rules of the manifest", load: () => import("./lint.js") },
  new: { help: "a seller to start from", load: () => import("./new.js") },
  check: { help: "a live agent against what a specialism asks of it", load: () => import("./check.js") },
  keys: { help: "signing keys: generate, rotate, remove, jwks", load: () => import("./keys.js") },
  webhook: { help: "sign, verify, send or print webhooks by hand", load: () => import("./webhook.js") },
  inbox: { help: "webhooks a receiver holds: list, replay, drop", load: () => import("./inbox.js") },
  outbox: { help: "webhooks a sender holds: list, retry, drop", load: () => import("./outbox.js") },
  db: { help: "the schema of a database: print, apply, compare", load: () => import("./db.js") },
  registry: {
    help: "the agent registry: serve, import, export, crawl, orgs, users, keys",
    load: () => import("./registry.js"),
  },
} satisfies Record<string, { help: string; load: () => Promise<{ register: (command: Command) => void }> }>;

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("adbind")
    .description("Bindings and runtime for advertising agents, from protocol releases")
    .version(generatorName().split(" ")[1]!)
    .exitOverride()
    .showHelpAfterError("(adbind --help lists the commands)");
  const asked = argv.find((word) => !word.startsWith("-"));
  for (const [name, entry] of Object.entries(commands)) {
    const command = program.command(name).description(entry.help);
    command.exitOverride();
    if (name === asked || asked === "help") (await entry.load()).register(command);
  }
  await program.parseAsync([...argv], { from: "user" });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // A CommanderError has printed what is wrong, or the help that was asked for.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (error instanceof AdbindError) {
    console.error(`adbind: ${error.message}`);
    process.exitCode = error.code === "usage" ? 2 : 1;
  } else throw error;
}
