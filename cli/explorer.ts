/** `adbind explorer`: a site to look releases up in, on disk or served. */
import path from "node:path";
import { type Command, Option } from "commander";
import { assertReplaceable, generatorName, readOwned, unchangedSince, withOwned } from "../generator/emit/disk.js";
import { recover, writePlans } from "../generator/emit/disk-swap.js";
import type { Site } from "../generator/explorer/site.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { createComparer } from "./explorer/comparer.js";
import { type LoadedReleases, loadReleases } from "./explorer/load.js";
import { type ComparedReleases, comparing, planExplorer, siteDigest } from "./explorer/plan.js";
import { serveExplorer } from "./explorer/serve.js";
import { servedSite } from "./explorer/served-site.js";
import { portNumber } from "./listening.js";
import { plural, printJson, shownPath, userPath } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveReleases, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  out: string;
  compare: ComparedReleases;
  title?: string;
  force?: boolean;
  json?: boolean;
}

interface ServeGiven extends ReleaseOptions {
  host: string;
  port: string;
  title?: string;
}

const PORT = 4680;

/** What a site is of, where bindings have their protocol's word. */
const WORD = "explorer";

const tell = (line: string): void => console.error(printable(line));

const tellPassedOver = ({ passedOver }: LoadedReleases): void => {
  for (const { path: place, why } of passedOver) tell(`passed over ${shownPath(place)}: ${why}`);
};

async function pathsOf(given: readonly string[], options: ReleaseOptions): Promise<string[]> {
  const paths: string[] = [];
  for (const one of given) paths.push(await resolveReleases(one, options));
  return paths;
}

const none = (): AdbindError =>
  new AdbindError("usage", "there is no release to show", { remedy: "adbind explorer RELEASE... --out FOLDER" });

/** Prints every file; the comparisons take longest. */
const printed = (site: Site): Map<string, string> =>
  new Map([...site].filter(([file]) => file !== "assets/live.js").map(([file, print]) => [file, print()]));

const countsOf = ({ releases }: LoadedReleases) => {
  const sum = (pick: (one: LoadedReleases["releases"][number]["atlas"]["model"]) => number): number =>
    releases.reduce((total, { atlas }) => total + pick(atlas.model), 0);
  return {
    tools: sum(({ tools }) => tools.length),
    codes: sum(({ codes }) => codes.length),
    specialisms: sum(({ specialisms }) => specialisms.length),
  };
};

/** @throws AdbindError `output_conflict`: bindings are adbind's own files too, and somebody imports them */
function assertNoBindings(out: string): void {
  const there = readOwned(out);
  if (there === undefined || there.word === WORD) return;
  throw new AdbindError("output_conflict", `the folder holds bindings, of ${there.word} ${there.version}`, {
    where: out,
    remedy: "choose another --out",
  });
}

async function build(given: readonly string[], options: Options): Promise<void> {
  if (given.length === 0) throw none();
  const started = performance.now();
  const loaded = await loadReleases(await pathsOf(given, options), { tell });
  tellPassedOver(loaded);
  const { releases } = loaded;
  if (releases.length === 0) throw none();
  const out = userPath(options.out);
  const [folder, name] = [path.dirname(out), path.basename(out)];
  const { compare, title, force = false } = options;
  const digest = siteDigest(releases, [compare, title ?? ""]);
  const made = { generator: generatorName(), options: { explorer: true, compare }, digest };
  recover(folder);
  assertNoBindings(out);
  const owned = force ? undefined : unchangedSince(out, made);
  if (owned !== undefined) {
    const files = Object.keys(owned.files).length + 1;
    report(options, { releases: releases.length, files, outcome: "unchanged", started });
    return;
  }
  const site = planExplorer(releases, { compare, ...(title !== undefined && { title }), tell });
  const versions = releases.map(({ atlas }) => `${atlas.model.word}@${atlas.model.version}`).join(" ");
  const plan = withOwned(printed(site), {
    ...made,
    word: WORD,
    version: versions,
    counts: countsOf(loaded),
    leftOut: [],
  });
  const plans = new Map([[name, plan]]);
  assertReplaceable(folder, plans, force);
  await writePlans(folder, plans);
  report(options, { releases: releases.length, files: plan.size, outcome: "written", started });
}

interface WrittenSite {
  readonly releases: number;
  readonly files: number;
  readonly outcome: "written" | "unchanged";
  readonly started: number;
}

function report({ out, json }: Options, { releases, files, outcome, started }: WrittenSite): void {
  const first = path.join(userPath(out), "index.html");
  if (json) {
    printJson({ ok: true, outcome, releases, files, open: first });
    return;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${plural(releases, "release")}, ${plural(files, "file")} ${outcome}  ${seconds} s`);
  console.log(`open ${shownPath(first)}`);
}

async function serve(given: readonly string[], options: ServeGiven): Promise<void> {
  const port = portNumber(options.port);
  if (given.length === 0) throw none();
  const paths = await pathsOf(given, options);
  const comparer = createComparer(tell);
  const { title } = options;
  const make = servedSite(comparer, {
    ...(title !== undefined && { title }),
    load: async () => {
      const loaded = await loadReleases(paths, { lenient: true });
      tellPassedOver(loaded);
      if (loaded.releases.length === 0) throw none();
      return loaded.releases;
    },
  });
  const server = await serveExplorer({ host: options.host, port, watched: paths, make, tell });
  console.log(`listening on ${server.url}`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await Promise.all([server.close(), comparer.close()]);
}

const HELP = `
The site works from the disk: open its index.html. Each page has its data beside it as JSON, each tool a Markdown file, and
llms.txt lists them. What is written is the same for the same releases.

Example: adbind explorer releases/3.1.19 releases/3.2.4 --out site`;

export function register(command: Command): void {
  withReleaseOptions(command.argument("[release...]", `${releaseHelp}; or a folder of releases`))
    .option("--out <folder>", "where the site is written; what adbind wrote there is replaced", "site")
    .addOption(
      new Option("--compare <which>", "which releases are compared: every two (seconds each), each with the next, none")
        .choices([...comparing])
        .default("all"),
    )
    .option("--title <text>", "what the site is called")
    .option("--force", "write even when nothing changed, and over files that were edited by hand")
    .option("--json", "print what was done as JSON")
    .addHelpText("after", HELP)
    .action(build);
  const serving = command.command("serve");
  serving.exitOverride();
  withReleaseOptions(serving.argument("<release...>", `${releaseHelp}; or a folder of releases, which is watched`))
    .description("serves the site on this machine, and makes it anew when a release changes")
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 takes a free one", String(PORT))
    .option("--title <text>", "what the site is called")
    .action((given: string[], _own: object, self: Command) => serve(given, self.optsWithGlobals()));
}
