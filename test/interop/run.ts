/** `./run interop <peer>`: adbind against official packages, cell by cell. */
import path from "node:path";
import { Option } from "commander";
import { type Totals, willClose } from "../../cli/closing-line.js";
import { releaseHelp, resolveRelease } from "../../cli/release/resolve.js";
import { script } from "../../cli/script.js";
import { corpus } from "../support/corpus.js";
import { algorithms, judgeSigning, type PeerName, peerNames } from "./signing/judge.js";

interface Given {
  readonly alg?: (typeof algorithms)[number];
  readonly part: PartName;
  /** The path of one. */
  readonly release?: string;
  readonly seller?: string;
}

interface Part {
  /** What it counts. */
  readonly unit: string;
  /** Why it has one peer only. */
  readonly only?: { readonly peer: PeerName; readonly why: string };
  judge(peer: PeerName, given: Given): Promise<Totals>;
}

const parts = {
  signing: {
    unit: "cells",
    judge: (peer, { alg }) => judgeSigning(peer, alg === undefined ? algorithms : [alg]),
  },
  webhooks: {
    unit: "cells",
    only: { peer: "python", why: "its receiver reads every kind of event" },
    judge: async (_, { release }) =>
      (await import("./webhooks/judge.js")).judgeWebhooks(release === undefined ? undefined : [release]),
  },
  registry: {
    unit: "methods",
    judge: async (peer) => (await import("./registry/judge.js")).judgeRegistry(peer),
  },
  calls: {
    unit: "steps",
    only: { peer: "python", why: "./run interop transports has the TypeScript packages" },
    judge: async () => (await import("./calls/judge.js")).judgeCalls(),
  },
  products: {
    unit: "releases",
    only: { peer: "python", why: "its client maps the formats that they name" },
    judge: async () => (await import("./products/judge.js")).judgeProducts(),
  },
  life: {
    unit: "steps",
    judge: async (peer, { seller }) => (await import("./life/judge.js")).judgeLife(peer, seller),
  },
} as const satisfies Readonly<Record<string, Part>>;
type PartName = keyof typeof parts;

/** What is no peer, and has no parts. */
const others: Readonly<Record<string, () => Promise<Totals>>> = {
  transports: async () => (await import("./transports/judge.js")).judgeTransports(),
  matrix: async () => (await import("./matrix/judge.js")).judgeMatrix(),
};

function refused(why: string): never {
  console.error(why);
  process.exit(2);
}

const command = script("interop", "adbind against an official SDK: what one side makes, the other believes")
  .argument(
    "<peer>",
    `${peerNames.join(", ")}, transports: the official MCP and A2A packages of every line, or matrix: our own two sides, release by release`,
  )
  .addOption(new Option("--part <name>", "what is judged").choices(Object.keys(parts)).default("signing"))
  .option("--release <release>", `of --part webhooks: events of this one only: ${releaseHelp}; else all of the corpus`)
  .option("--seller <versions>", "of --part life: only a seller of these releases, newest first, with commas between")
  .addOption(new Option("--alg <name>", "of --part signing: keys of this algorithm only").choices(algorithms))
  .parse();
const [peer = ""] = command.args;
const given = command.opts<Given>();
const part: Part = parts[given.part];
const other = Object.hasOwn(others, peer) ? others[peer] : undefined;
if (other === undefined && !peerNames.includes(peer as PeerName))
  refused(`no peer ${peer}; there are ${[...peerNames, ...Object.keys(others)].join(", ")}`);
if (other === undefined && part.only !== undefined && part.only.peer !== peer)
  refused(`${given.part} are judged against ${part.only.peer} only: ${part.only.why}`);
const release =
  given.release === undefined
    ? undefined
    : await resolveRelease(given.release, { source: path.join(corpus, "releases") });
const close = willClose(other === undefined ? part.unit : "steps");
close(await (other?.() ?? part.judge(peer as PeerName, { ...given, ...(release !== undefined && { release }) })));
// Clients of others leave timers and sockets behind.
process.exit();
