#!/usr/bin/env node
/** argv -> functions. A command's module is imported when it is called, so that `generate` never loads a database. */
import { enableCompileCache } from "node:module";
import { Command, CommanderError } from "commander";
import { generatorName } from "../generator/emit/disk.js";
import { exitCodes, reportFailure } from "./failure.js";
import { printJson } from "./output.js";

// The type compiler alone is 10 MB of JavaScript; from the second run on, Node reads it compiled.
enableCompileCache();

/** Name -> one line of help, and the module whose `register(command)` declares arguments, options and the action. */
const commands = {
  generate: { help: "typed bindings from releases", load: () => import("./generate.js") },
  releases: {
    help: "releases that can be named or lie in a folder, and what one says of itself: list, show",
    load: () => import("./releases.js"),
  },
  lint: { help: "a release against the rules of the manifest", load: () => import("./lint.js") },
  diff: { help: "what changed between two releases, and whom it breaks", load: () => import("./diff.js") },
  explorer: {
    help: "a site to look releases up in; serve watches a folder of them",
    load: () => import("./explorer.js"),
  },
  explain: {
    help: "what a release says of a code, tool, field or specialism; what a finding means",
    load: () => import("./explain.js"),
  },
  upgrade: {
    help: "a project onto a newer release: a worksheet, and what is safe to change",
    load: () => import("./upgrade.js"),
  },
  new: { help: "a seller to start from", load: () => import("./new.js") },
  call: { help: "one tool of an agent, from the terminal", load: () => import("./call.js") },
  tools: { help: "what an agent offers", load: () => import("./tools.js") },
  auth: { help: "why an agent refuses: diagnose", load: () => import("./auth.js") },
  check: { help: "a live agent against what a specialism asks of it", load: () => import("./check.js") },
  conform: {
    help: "the published storyboards of a release, run against a live agent",
    load: () => import("./conform.js"),
  },
  keys: { help: "signing keys: generate, rotate, remove, jwks", load: () => import("./keys.js") },
  webhook: { help: "sign, verify, send or print webhooks by hand", load: () => import("./webhook.js") },
  inbox: { help: "webhooks a receiver holds: list, replay, drop", load: () => import("./inbox.js") },
  outbox: {
    help: "webhooks a sender holds: list, show, retry, replay, move, drop, pause, serve",
    load: () => import("./outbox.js"),
  },
  deliver: {
    help: "what outboxes hold, sent: a deliverer of one database or many",
    load: () => import("./deliver.js"),
  },
  db: { help: "the schema of a database: print, apply, compare", load: () => import("./db.js") },
  registry: {
    help: "the agent registry: serve, import, export, crawl, doctor, orgs, users, keys",
    load: () => import("./registry.js"),
  },
} satisfies Record<string, { help: string; load: () => Promise<{ register: (command: Command) => void }> }>;

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
