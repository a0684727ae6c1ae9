/** `adbind split`: the databases of a split, and the moves of keyspaces when one comes or goes. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { openDatabase } from "../runtime/db/open.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { type SplitChange, type SplitStatus, splitChange } from "../runtime/store/split/change.js";
import { plural, printJson } from "./output.js";
import { placeOfNamed } from "./store.js";

/** Senders give up on an answer after about ten seconds: their next try comes later than a fence may stand. */
const MAX_FENCE_SECONDS = 60;
const FENCE_SECONDS = 5;

interface SplitCommand {
  readonly database: readonly (readonly [name: string, url: string])[];
  /** Whose what is in one database: a receiver's senders, or principals of senders and sellers. */
  readonly by: "sender" | "principal";
  readonly fenceSeconds: number;
  readonly json?: boolean;
}

function named(text: string): readonly [name: string, url: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It takes <name>=<url>.");
  return [text.slice(0, at), text.slice(at + 1)];
}

const collected = (text: string, before: SplitCommand["database"] = []): SplitCommand["database"] => [
  ...before,
  named(text),
];

function fenceOf(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_FENCE_SECONDS) return seconds;
  throw new InvalidArgumentError(`It takes more than 0 and at most ${MAX_FENCE_SECONDS} seconds.`);
}

/** Databases that `ADBIND_SPLIT` names; none where it does not. */
export function splitInEnvironment(): SplitCommand["database"] {
  const texts = (process.env.ADBIND_SPLIT ?? "").split(/\s+/).filter((text) => text !== "");
  return texts.every((text) => text.indexOf("=") > 0) ? texts.map(named) : [];
}

/** Databases of the flags, else of the environment: not on a command line, which others may read, where they hold a password. */
function databasesOf({ database }: SplitCommand): SplitCommand["database"] {
  const given = database ?? splitInEnvironment();
  if (given.length > 0) return given;
  throw new AdbindError("usage", "no database is named", {
    remedy: "give --database <name>=<url> for each, or set ADBIND_SPLIT to all of them, parted by blanks",
  });
}

/** @param accessOf how far a database is opened: what only looks makes none */
async function withSplit(
  options: SplitCommand,
  accessOf: (name: string) => StoreAccess,
  job: (change: SplitChange) => Promise<void>,
): Promise<void> {
  let moved = 0;
  const change = splitChange({
    kind: options.by,
    databases: databasesOf(options).map(([name, url]) => ({
      name,
      database: () => openDatabase(placeOfNamed(url), { access: accessOf(name) }),
    })),
    fenceMs: options.fenceSeconds * 1000,
    onMoved({ keyspace, from, to, rows, fencedMs }) {
      moved += 1;
      if (options.json) console.log(JSON.stringify({ moved: keyspace, from, to, rows, fencedMs }));
      else
        console.log(
          `${String(moved).padStart(6)} ${printable(keyspace)}: ${from} -> ${to}, stood still ${fencedMs} ms`,
        );
    },
  });
  try {
    await job(change);
  } finally {
    await change.close();
  }
}

const ended = (json: boolean | undefined, moved: number): void => {
  if (json) console.log(JSON.stringify({ done: true, moved }));
  else console.log(`${plural(moved, "keyspace")} moved; every one is where it belongs`);
};

const init = (options: SplitCommand): Promise<void> =>
  withSplit(
    options,
    () => "create",
    async (change) => {
      const { members } = await change.init();
      if (options.json) console.log(JSON.stringify({ databases: members.map(({ name }) => name) }));
      else console.log(`the split has ${members.map(({ name }) => name).join(", ")}`);
    },
  );

const add = (name: string, options: SplitCommand): Promise<void> =>
  withSplit(
    options,
    (one) => (one === name ? "create" : "change"),
    async (change) => {
      await change.add(name);
      ended(options.json, await change.move());
    },
  );

const remove = (name: string, options: SplitCommand): Promise<void> =>
  withSplit(
    options,
    () => "change",
    async (change) => {
      await change.remove(name);
      ended(options.json, await change.move());
    },
  );

const move = (options: SplitCommand): Promise<void> =>
  withSplit(
    options,
    () => "change",
    async (change) => ended(options.json, await change.move()),
  );

const status = (options: SplitCommand): Promise<void> =>
  withSplit(
    options,
    () => "read",
    async (change) => {
      const found = await change.status();
      if (found.set === null || found.set.previous !== null) process.exitCode = 1;
      if (options.json) printJson(found);
      else for (const line of statusLines(found)) console.log(line);
    },
  );

function statusLines({ set, databases }: SplitStatus): string[] {
  if (set === null) return ["the databases are of no split yet: adbind split init"];
  const rows = databases.map(({ name, version, keyspaces }) => {
    const { here, arriving, moving, moved } = keyspaces;
    const known = version === null ? "not in the split" : version < set.version ? `knows version ${version}` : "";
    return `${name.padEnd(20)} ${String(here).padStart(8)} here, ${arriving} arriving, ${moving} standing still, ${moved} moved away  ${known}`.trimEnd();
  });
  const names = (members: readonly { readonly name: string }[]): string => members.map(({ name }) => name).join(", ");
  const change =
    set.previous === null
      ? "every keyspace is where it belongs"
      : `keyspaces are being moved (before: ${names(set.previous)}); adbind split move goes on with it`;
  return [`version ${set.version}: ${names(set.members)}`, ...rows, change];
}

export function register(command: Command): void {
  const subcommand = (usage: string, description: string): Command =>
    command
      .command(usage)
      .description(description)
      .addOption(
        new Option(
          "--database <name=url>",
          "a database, by its name in the split; once for each (or ADBIND_SPLIT, parted by blanks)",
        ).argParser(collected),
      )
      .addOption(
        new Option(
          "--by <owner>",
          "what it is split by: a receiver's by sender, a sender's and a seller's by principal",
        )
          .choices(["sender", "principal"])
          .default("sender"),
      )
      .option(
        "--fence-seconds <n>",
        "longest time that requests for one of them may have to wait",
        fenceOf,
        FENCE_SECONDS,
      )
      .option("--json", "as JSON, a line for each keyspace");
  subcommand("init", "makes the split of new databases, or of one that has been a store by itself until now").action(
    init,
  );
  subcommand("add <name>", "adds a database, and moves to it what belongs there, while traffic flows").action(add);
  subcommand("remove <name>", "moves everything out of a database, while traffic flows").action(remove);
  subcommand("move", "goes on with a change that was stopped").action(move);
  subcommand("status", "databases, keyspaces and what is under way; exit code 1 while something is").action(status);
}
