/**
 * What generating costs, and what using generated code costs. Every figure is the median of cold processes on the built
 * package; ratios and differences are taken against a baseline that runs in turn with what is measured.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import ts from "typescript";
import { type Command, type Cost, measure, measureOnce } from "./support/measure.js";
import { partsOf } from "./support/options.js";
import { type BuiltPackage, buildPackage, tsc } from "./support/package.js";
import type { Row } from "./support/row.js";
import { standaloneRows } from "./support/standalone-rows.js";
import { writeSynthetic } from "./support/synthetic.js";
import { makeUserProject } from "./support/user.js";

const root = path.resolve(import.meta.dirname, "..");

/** Processes per figure: of seconds, of half a minute, and of milliseconds, where one page fault shows. */
const RUNS = 5;
const LONG_RUNS = 3;
const TINY_RUNS = 11;

/** Sizes over which time must grow as the tools do; the first and the last make the figure. */
const SIZES = [500, 1000, 2000];
const SHORT_SIZES = [20, 40, 80];

/** The largest release the corpus may have, the largest first. */
const LARGEST = ["3.2.4", "3.2.0-beta.0"];

/** The release that the program uses. */
const USED = "3.1.19";

/** What the peer SDK's project says of its generator, which it does not ship, so nobody can run it here. */
const STATED = "stated by a peer SDK of its own generator, not measured here: 38 s, 1.3 GB";

interface Inputs {
  largest: string;
  used: string;
  all: string[];
}

/** Folders of the releases to measure on. */
function findInputs(): Inputs {
  const shared = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared", "releases");
  const folder = existsSync(shared) ? shared : path.join(root, "manifests");
  const all = readdirSync(folder)
    .map((name) => path.join(folder, name))
    .filter((release) => existsSync(path.join(release, "manifest.json")))
    .sort();
  const largest = LARGEST.map((version) => path.join(folder, version)).find(existsSync);
  if (folder === shared && largest !== undefined) return { largest, used: path.join(folder, USED), all };
  console.error(`skipped: the shared releases are not at ${shared}; measuring on manifests/`);
  return { largest: all.at(-1)!, used: all.at(-1)!, all };
}

interface Setting {
  built: BuiltPackage;
  inputs: Inputs;
  /** Ours to fill; removed at the end. */
  scratch: string;
  /** Tools of the releases that show the growth. */
  sizes: readonly number[];
}

const megabytes = (bytes: number): number => bytes / 1e6;
const seconds = (ms: number): string => `${(ms / 1e3).toFixed(2)} s`;
const name = (release: string): string => path.basename(release);

/** What `support/floor.ts` does, in words. */
const FLOOR = "parsing and compiling the schemas once";

/** `bare` is what node costs before it does anything. */
const bare: Command = { args: ["-e", "0"] };

/** `adbind generate` into a folder that is not there yet. */
const generation = ({ cli }: BuiltPackage, releases: readonly string[], out: string): Command => ({
  args: [cli, "generate", ...releases, "--out", out],
  prints: / written /,
  before: () => rmSync(out, { recursive: true, force: true }),
});

async function largestRows({ built, inputs, scratch }: Setting): Promise<Row[]> {
  const { ours, floor } = await measure(
    {
      floor: { args: [built.floor, inputs.largest, path.join(scratch, "floor.ts")] },
      ours: generation(built, [inputs.largest], path.join(scratch, "largest")),
    },
    RUNS,
  );
  const sides = (pick: (cost: Cost) => number): string => `${seconds(pick(ours))} against ${seconds(pick(floor))}`;
  return [
    {
      name: `generate ${name(inputs.largest)}, times the floor`,
      value: ours.ms / floor.ms,
      unit: "x",
      target: { max: 2.2 },
      floor: { of: FLOOR, times: ours.ms / floor.ms },
      note: `${sides(({ ms }) => ms)}; processor ${sides(({ cpuMs }) => cpuMs)}; ${STATED}`,
    },
    {
      name: `generate ${name(inputs.largest)}, peak memory`,
      value: megabytes(ours.peakBytes),
      unit: "MB",
      target: { max: 350 },
      floor: { of: FLOOR, times: ours.peakBytes / floor.peakBytes },
      note: `floor ${Math.round(megabytes(floor.peakBytes))} MB`,
    },
  ];
}

async function allRows({ built, inputs, scratch }: Setting): Promise<Row[]> {
  const { ours } = await measure({ ours: generation(built, inputs.all, path.join(scratch, "all")) }, LONG_RUNS);
  // Once each: errors of so many processes cancel.
  let floorMs = 0;
  for (const release of inputs.all)
    floorMs += (await measureOnce({ args: [built.floor, release, path.join(scratch, "floor.ts")] })).ms;
  return [
    {
      name: `generate ${inputs.all.length} releases in one run`,
      value: ours.ms / 1e3,
      unit: "s",
      target: { max: 12 },
      floor: { of: `${FLOOR}, a process a release`, times: ours.ms / floorMs },
      note: `processor ${seconds(ours.cpuMs)}, peak ${Math.round(megabytes(ours.peakBytes))} MB`,
    },
  ];
}

async function unchangedRows({ built, inputs, scratch }: Setting): Promise<Row[]> {
  const first = generation(built, [inputs.largest], path.join(scratch, "unchanged"));
  await measureOnce(first);
  const { bare: nothing, again } = await measure(
    { bare, again: { args: first.args, prints: / unchanged / } },
    TINY_RUNS,
  );
  return [
    {
      name: `generate ${name(inputs.largest)} unchanged, above bare node`,
      value: (again.ms - nothing.ms) / 1e3,
      unit: "s",
      target: { max: 0.3 },
      floor: { of: "bare node", times: again.ms / nothing.ms },
      note: `${seconds(again.ms)} against ${seconds(nothing.ms)}; processor ${seconds(again.cpuMs)}`,
    },
  ];
}

async function growthRows({ built, scratch, sizes }: Setting): Promise<Row[]> {
  const commands = sizes.map((tools): [string, Command] => {
    const folder = path.join(scratch, `synthetic-${tools}`);
    writeSynthetic(folder, { tools, seed: 1 });
    return [String(tools), generation(built, [folder], path.join(scratch, `out-${tools}`))];
  });
  const costs = await measure(Object.fromEntries(commands), LONG_RUNS);
  const [few, many] = [sizes[0]!, sizes.at(-1)!];
  const [least, most] = [costs[few]!, costs[many]!];
  const line = (of: (cost: Cost) => number) => [
    { name: "adbind generate", points: sizes.map((tools) => [tools, of(costs[tools]!)] as const) },
  ];
  const x = { label: "tools of the release" };
  return [
    {
      name: `generate ${many} tools, times ${few} tools`,
      value: most.ms / least.ms,
      unit: "x",
      target: { max: 4.2 },
      floor: { of: "as many times the tools", times: most.ms / least.ms / (many / few) },
      note: `${seconds(most.ms)} against ${seconds(least.ms)}; processor ${seconds(most.cpuMs)} against ${seconds(least.cpuMs)}; peak ${Math.round(megabytes(most.peakBytes))} MB`,
      curves: [
        {
          name: "time",
          title: "Generating a release, cold process",
          ...{ x, y: { label: "time, seconds" }, lines: line(({ ms }) => ms / 1e3) },
        },
        {
          name: "memory",
          title: "Generating a release, peak memory",
          ...{ x, y: { label: "largest resident set, MB" }, lines: line(({ peakBytes }) => megabytes(peakBytes)) },
        },
      ],
    },
  ];
}

async function userRows({ built, inputs, scratch }: Setting): Promise<Row[]> {
  const out = path.join(scratch, "used");
  await measureOnce(generation(built, [inputs.used], out));
  const user = makeUserProject(path.join(scratch, "user"), built, path.join(out, name(inputs.used)));
  const program = await measure(
    { empty: { args: [tsc, "-p", user.empty] }, ours: { args: [tsc, "-p", user.program] } },
    RUNS,
  );
  const imports = await measure({ bare, one: { args: [user.importOne] }, all: { args: [user.importAll] } }, TINY_RUNS);
  const memory = (above: Cost, below: Cost): number => megabytes(above.peakBytes - below.peakBytes);
  const used = name(inputs.used);
  return [
    {
      name: `tsc on a program with ${used}, above an empty one`,
      value: (program.ours.ms - program.empty.ms) / 1e3,
      unit: "s",
      target: { max: 1.5 },
      floor: { of: "tsc on an empty program", times: program.ours.ms / program.empty.ms },
      note: `tsc ${ts.version}, skipLibCheck false; ${seconds(program.ours.ms)} against ${seconds(program.empty.ms)}`,
    },
    {
      name: `tsc on a program with ${used}, memory above`,
      value: memory(program.ours, program.empty),
      unit: "MB",
      target: { max: 250 },
      floor: { of: "tsc on an empty program", times: program.ours.peakBytes / program.empty.peakBytes },
      note: `empty program ${Math.round(megabytes(program.empty.peakBytes))} MB`,
    },
    {
      name: `import one tool of ${used}, above bare node`,
      value: imports.one.ms - imports.bare.ms,
      unit: "ms",
      target: { max: 30 },
      floor: { of: "bare node", times: imports.one.ms / imports.bare.ms },
      note: `bare node ${Math.round(imports.bare.ms)} ms`,
    },
    {
      name: `import one tool of ${used}, memory above`,
      value: memory(imports.one, imports.bare),
      unit: "MB",
      target: { max: 15 },
      floor: { of: "bare node", times: imports.one.peakBytes / imports.bare.peakBytes },
      note: `bare node ${Math.round(megabytes(imports.bare.peakBytes))} MB`,
    },
    {
      name: `import everything of ${used}, above bare node`,
      value: imports.all.ms - imports.bare.ms,
      unit: "ms",
      target: { max: 150 },
      floor: { of: "bare node", times: imports.all.ms / imports.bare.ms },
      note: `${Math.round(memory(imports.all, imports.bare))} MB above`,
    },
  ];
}

/**
 * Measures generation and the use of what it gives.
 * @param args `--only=largest,all,unchanged,growth,user,standalone` for some of it; `--short` for a growth of few tools
 */
export async function run(args: readonly string[] = []): Promise<Row[]> {
  const only = partsOf(args);
  const sizes = args.includes("--short") ? SHORT_SIZES : SIZES;
  const standalone = ({ inputs, ...setting }: Setting) => standaloneRows({ ...setting, ...inputs, runs: LONG_RUNS });
  const parts = {
    ...{ largest: largestRows, all: allRows, unchanged: unchangedRows, growth: growthRows, user: userRows, standalone },
  };
  const scratch = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  try {
    const setting = { inputs: findInputs(), built: buildPackage(path.join(scratch, "package")), scratch, sizes };
    const rows: Row[] = [];
    for (const [part, measured] of Object.entries(parts)) if (only(part)) rows.push(...(await measured(setting)));
    return rows;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
