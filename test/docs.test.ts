/** Guides say what is so: their shell runs, their code stands in examples that run, and what they link to is there. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromSource } from "./runner/from-source.js";
import { cellsOf } from "./support/cells.js";
import { cut } from "./support/mutate-release.js";
import { tempFolder, writeRelease } from "./support/release.js";

const root = path.resolve(import.meta.dirname, "..");
const source = fromSource;

interface Block {
  readonly file: string;
  readonly about: string;
  readonly text: string;
}

const guides = ["README.md", ...globSync("docs/{,deploy/}*.md", { cwd: root })].sort();

/** Fenced blocks with the comment before each. */
const blocks: Block[] = guides.flatMap((file) =>
  [...readFileSync(path.join(root, file), "utf8").matchAll(/<!-- (.+?) -->\n```\w*\n([\s\S]*?)```/g)].map((found) => ({
    file,
    about: found[1]!,
    text: found[2]!,
  })),
);

const of = (kind: (about: string) => boolean): Block[] => blocks.filter(({ about }) => kind(about));
const isOutput = (about: string): boolean => about.startsWith("output of ");

test("there are guides to hold to their word", () => assert.ok(guides.length > 3 && blocks.length > 5));

test("every fenced block of code says where it is run", () => {
  for (const file of guides) {
    const text = readFileSync(path.join(root, file), "utf8");
    const loose = [...text.matchAll(/^```(?:ts|sh|js)\n/gm)].filter(
      ({ index }) => !/-->\n$/.test(text.slice(0, index)),
    );
    assert.is(loose.length, 0, `${file} has code that nothing runs`);
  }
});

test("code stands in an example", () => {
  for (const { file, about, text } of of((one) => one !== "run" && !isOutput(one)))
    assert.ok(readFileSync(path.join(root, about), "utf8").includes(text), `${file}: ${about}`);
});

const run = (file: string): string => execFileSync("node", [...source, file], { cwd: root, encoding: "utf8" });

for (const example of globSync("docs/examples/*.ts", { cwd: root })) {
  test(`${example} runs, and prints what is said of it`, () => {
    const printed = run(example);
    for (const { file, text } of of((about) => about === `output of ${example}`))
      assert.ok(printed.startsWith(text), `${file} says otherwise:\n${printed}`);
  });
}

/** A block that waits for what never comes must fail with its text, not hold the whole file. In milliseconds. */
const LONGEST_BLOCK_MS = 240_000;

/**
 * Our releases, less the tools that no guide names: what a command does to each of sixty tools, its own tests prove, and
 * guides name the same ones a dozen times.
 */
const releases = tempFolder();
for (const version of ["3.0.0", "3.1.0"]) {
  const folder = path.join(root, "manifests", version);
  const { tools, specialisms } = JSON.parse(readFileSync(path.join(folder, "manifest.json"), "utf8"));
  const kept = specialisms.sales_guaranteed.exercised_tools.filter((name: string) => Object.hasOwn(tools, name));
  writeRelease(cut(folder, kept), path.join(releases, version));
}

/** A folder as a reader has it: `adbind` on the path, and releases in `releases/`. */
function readersFolder(): { folder: string; PATH: string } {
  const folder = tempFolder();
  const bin = path.join(folder, ".bin");
  mkdirSync(bin);
  const command = ["node", ...source, path.join(root, "cli/main.ts"), '"$@"'].join(" ");
  writeFileSync(path.join(bin, "adbind"), `#!/bin/sh\nexport ADBIND_CWD="$PWD"\ncd '${root}'\nexec ${command}\n`);
  chmodSync(path.join(bin, "adbind"), 0o755);
  symlinkSync(releases, path.join(folder, "releases"));
  return { folder, PATH: `${bin}:${process.env.PATH}` };
}

const shellOf = (guide: string): Block[] => blocks.filter(({ file, about }) => file === guide && about === "run");
const shells = guides.filter((guide) => shellOf(guide).length > 0);
/** Part of them that one commit's run takes. */
const SHELLS = 0.3;

for (const guide of cellsOf(
  "ADBIND_CELLS=all ./run test test/docs.test.ts",
  shells,
  Math.ceil(shells.length * SHELLS),
)) {
  const shell = shellOf(guide);
  test(`the commands of ${guide} run, one after the other, in an empty folder`, () => {
    const { folder, PATH } = readersFolder();
    for (const { text } of shell) {
      const { status, stdout, stderr } = spawnSync("bash", ["-eu", "-o", "pipefail", "-c", text], {
        cwd: folder,
        env: { ...process.env, PATH },
        encoding: "utf8",
        timeout: LONGEST_BLOCK_MS,
      });
      assert.is(status, 0, `${text}\n${stdout}${stderr}`);
    }
  });
}

test("every file a guide links to is there", () => {
  for (const file of guides) {
    const text = readFileSync(path.join(root, file), "utf8");
    for (const [, link] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
      assert.ok(existsSync(path.join(root, path.dirname(file), link!)), `${file}: ${link}`);
  }
});

test("every file that a guide says comes with a package is in it", () => {
  const packages = { adbind: "package.json", "adbind-cli": "cli/package.json" };
  for (const file of guides)
    for (const [, name, within] of readFileSync(path.join(root, file), "utf8").matchAll(
      /node_modules\/(adbind(?:-cli)?)\/([\w./-]+)/g,
    )) {
      const { files } = JSON.parse(readFileSync(path.join(root, packages[name as keyof typeof packages]), "utf8"));
      assert.ok(files.includes(within!.split("/")[0]), `${file}: ${name} has no ${within}`);
    }
});

test("every command a guide shows is there", () => {
  const help = execFileSync(path.join(root, "run"), ["help"], { encoding: "utf8" });
  const adbind = execFileSync("node", [...source, "cli/main.ts", "--help"], { cwd: root, encoding: "utf8" });
  for (const file of guides) {
    const text = readFileSync(path.join(root, file), "utf8");
    for (const [, command] of text.matchAll(/(?:^ {4}|`)\.\/run (\w+)/gm))
      assert.match(help, new RegExp(`^\\./run ${command}\\b`, "m"), `${file}: ./run ${command}`);
    for (const [, command] of text.matchAll(/(?:^ {4}|^|`)adbind ([a-z]+)\b/gm))
      assert.match(adbind, new RegExp(`^ {2}${command}\\b`, "m"), `${file}: adbind ${command}`);
  }
});

test.run();
