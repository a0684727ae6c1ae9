/**
 * What generating costs, and what using generated code costs. Every figure is the median of cold processes on the built
 * package; ratios and differences are taken against a baseline that runs in turn with what is measured.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import ts from "typescript";
import { type Command, type Cost, measure, measureOnce } from "./support/measure.js";
import { type BuiltPackage, buildPackage, tsc } from "./support/package.js";
import type { Row } from "./support/row.js";
import { writeSynthetic } from "./support/synthetic.js";
import { makeUserProject } from "./support/user.js";

const root = path.resolve(import.meta.dirname, "..");

/** Processes per figure: of seconds, of half a minute, and of milliseconds, where one page fault shows. */
const RUNS = 5;
const LONG_RUNS = 3;
const TINY_RUNS = 11;

/** Sizes between which time must grow as the tools do. */
const FEW_TOOLS = 500;
const MANY_TOOLS = 2000;

/** The shared release with the most files, and the one the program uses. */
const LARGEST = "3.2.0-beta.0";
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
  if (folder === shared) return { largest: path.join(folder, LARGEST), used: path.join(folder, USED), all };
  console.error(`skipped: the shared releases are not at ${shared}; measuring on manifests/`);
  return { largest: all.at(-1)!, used: all.at(-1)!, all };
}

interface Setting {
  built: BuiltPackage;
  inputs: Inputs;
  /** Ours to fill; removed at the end. */
  scratch: string;
}

const megabytes = (bytes: number): number => bytes / 1e6;
const seconds = (ms: number): string => `${(ms / 1e3).toFixed(2)} s`;
const name = (release: string): string => path.basename(release);

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
      target: { max: 2.5 },
      note: `${sides(({ ms }) => ms)}; processor ${sides(({ cpuMs }) => cpuMs)}; ${STATED}`,
    },
    {
      name: `generate ${name(inputs.largest)}, peak memory`,
      value: megabytes(ours.peakBytes),
      unit: "MB",
      target: { max: 400 },
      note: `floor ${Math.round(megabytes(floor.peakBytes))} MB`,
    },
  ];
}

async function allRows({ built, inputs, scratch }: Setting): Promise<Row[]> {
  const { ours } = await measure({ ours: generation(built, inputs.all, path.join(scratch, "all")) }, LONG_RUNS);
  return [
    {
      name: `generate ${inputs.all.length} releases in one run`,
      value: ours.ms / 1e3,
      unit: "s",
      target: { max: 12 },
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
      note: `${seconds(again.ms)} against ${seconds(nothing.ms)}; processor ${seconds(again.cpuMs)}`,
    },
  ];
}

async function growthRows({ built, scratch }: Setting): Promise<Row[]> {
  const release = (tools: number): string => {
    const folder = path.join(scratch, `synthetic-${tools}`);
    writeSynthetic(folder, { tools, seed: 1 });
    return folder;
  };
  const { few, many } = await measure(
    {
      few: generation(built, [release(FEW_TOOLS)], path.join(scratch, "few")),
      many: generation(built, [release(MANY_TOOLS)], path.join(scratch, "many")),
    },
    LONG_RUNS,
  );
  return [
    {
      name: `generate ${MANY_TOOLS} tools, times ${FEW_TOOLS} tools`,
      value: many.ms / few.ms,
      unit: "x",
      target: { max: 4.4 },
      note: `${seconds(many.ms)} against ${seconds(few.ms)}; processor ${seconds(many.cpuMs)} against ${seconds(few.cpuMs)}; peak ${Math.round(megabytes(many.peakBytes))} MB`,
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
      note: `tsc ${ts.version}, skipLibCheck false; ${seconds(program.ours.ms)} against ${seconds(program.empty.ms)}`,
    },
    {
      name: `tsc on a program with ${used}, memory above`,
      value: memory(program.ours, program.empty),
      unit: "MB",
      target: { max: 250 },
      note: `empty program ${Math.round(megabytes(program.empty.peakBytes))} MB`,
    },
    {
      name: `import one tool of ${used}, above bare node`,
      value: imports.one.ms - imports.bare.ms,
      unit: "ms",
      target: { max: 30 },
      note: `bare node ${Math.round(imports.bare.ms)} ms`,
    },
    {
      name: `import one tool of ${used}, memory above`,
      value: memory(imports.one, imports.bare),
      unit: "MB",
      target: { max: 15 },
      note: `bare node ${Math.round(megabytes(imports.bare.peakBytes))} MB`,
    },
    {
      name: `import everything of ${used}, above bare node`,
      value: imports.all.ms - imports.bare.ms,
      unit: "ms",
      target: { max: 150 },
      note: `${Math.round(memory(imports.all, imports.bare))} MB above`,
    },
  ];
}

/** Measures generation and the use of what it gives. */
export async function run(): Promise<Row[]> {
  const scratch = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  try {
    const setting = { inputs: findInputs(), built: buildPackage(path.join(scratch, "package")), scratch };
    const rows: Row[] = [];
    for (const part of [largestRows, allRows, unchangedRows, growthRows, userRows]) rows.push(...(await part(setting)));
    return rows;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
