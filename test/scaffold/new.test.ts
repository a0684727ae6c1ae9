/** `adbind new seller`: what is written compiles, passes its own tests, and is no more than what was asked for. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { newSeller } from "../../generator/scaffold/index.js";
import { fromSource } from "../runner/from-source.js";
import { cellsOf } from "../support/cells.js";
import { publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import { manifestOf, readFiles } from "../support/mutate-release.js";
import { tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";
import { proves } from "../support/turns.js";
import { ownTests, root, run, typeCheck, workspace } from "./project.js";

const ours = path.join(root, "manifests/3.1.0");

const idsOf = (release: string): string[] =>
  Object.keys(JSON.parse(readFileSync(path.join(release, "manifest.json"), "utf8")).specialisms);

test("a guaranteed seller of our newest release is named after its folder, and has what it needs and no more", async () => {
  const folder = path.join(workspace(), "Corner Shop");
  const result = await newSeller({ folder, release: ours, specialisms: ["sales-guaranteed"] });
  assert.ok(result.created);
  assert.equal(result.specialisms, ["sales_guaranteed"]);
  assert.equal(result.open, []);
  const { name, imports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  assert.is(name, "corner-shop");
  assert.is(imports["#bindings"].types, "./bindings/3.1.0/index.ts");
  assert.match(readFileSync(path.join(folder, "src/seller.ts"), "utf8"), 'name: "Corner Shop"');
  assert.not(existsSync(path.join(folder, "src/signals.ts")));
});

test("a folder that holds a file of the project, or where one cannot be written, stays as it was", async () => {
  const make = (folder: string) => newSeller({ folder, release: ours, specialisms: ["sales-guaranteed"] });
  const taken = writeRelease({ "README.md": "mine" });
  assert.is((await thrownBy(() => make(taken))).code, "usage");
  assert.equal(readdirSync(taken), ["README.md"]);
  const blocked = writeRelease({ src: "a file of mine" });
  const fault = await thrownBy(() => make(blocked));
  assert.equal([fault.code, readdirSync(blocked)], ["output_unusable", ["src"]]);
  // Folders of its own stay too, though nothing is in them.
  const begun = writeRelease({ test: "a file of mine" });
  mkdirSync(path.join(begun, "src"));
  assert.is((await thrownBy(() => make(begun))).code, "output_unusable");
  assert.equal(readdirSync(begun), ["src", "test"]);
});

test("a disk that takes no more leaves no half of a project, and says so in a word of its own", () => {
  const folder = path.join(tempFolder(), "above", "shop");
  const words = ["new", "seller", folder, "--release", ours, "--specialism", "sales_guaranteed"];
  const command = [process.execPath, ...fromSource, path.join(root, "cli/bin.ts"), ...words];
  // Blocks of 512 or 1,024 bytes: files of the bindings are larger.
  const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -f 8; exec "$@"', "sh", ...command], { encoding: "utf8" });
  assert.equal([status, existsSync(path.dirname(folder))], [1, false], stderr);
  assert.match(stderr, /larger than the disk .* choose another folder/);
});

const published = publishedReleases().find((release) => release.endsWith("/3.0.26"));

/** Projects that are to compile and pass their own tests. */
const projects = {
  async "a guaranteed seller of ours"() {
    const folder = path.join(workspace(), "Corner Shop");
    const { open } = await newSeller({ folder, release: ours, specialisms: ["sales_guaranteed"] });
    assert.equal(open, []);
    return folder;
  },
  async "every specialism of ours at once"() {
    const folder = path.join(workspace(), "all");
    const { open } = await newSeller({ folder, release: ours, specialisms: idsOf(ours) });
    // What nobody answers is named, and the rest is there all the same.
    const readme = readFileSync(path.join(folder, "README.md"), "utf8");
    for (const tool of open) assert.match(readme, tool);
    return folder;
  },
  async "every specialism of published 3.0 at once"() {
    const folder = path.join(workspace(), "published");
    const { open, tools } = await newSeller({ folder, release: published!, specialisms: idsOf(published!) });
    assert.equal(open, []);
    assert.ok(tools.length >= 45, `${tools.length} tools`);
    return folder;
  },
};
const names = Object.keys(projects) as (keyof typeof projects)[];
const possible = names.filter((name) => published !== undefined || !name.includes("published"));
for (const name of proves("a seller's project") ? cellsOf(judgeCommand("scaffold"), possible, 1) : []) {
  test(`${name} compiles and passes its own tests`, async () => {
    const folder = await projects[name]();
    const types = await typeCheck(folder);
    assert.is(types.code, 0, types.output);
    const own = await ownTests(folder);
    assert.is(own.code, 0, own.output);
    assert.match(own.output, /pass [1-9]/);
  });
}

/** Our release, in which signal_owned has an entry point that the library knows nothing of. */
function withNewEntryPoint(): string {
  const files = readFiles(ours);
  const { tools, specialisms } = manifestOf(files);
  tools.pause_signals = { ...tools.get_signals, specialisms: ["signal_owned"] };
  for (const list of ["entry_point_tools", "exercised_tools"]) specialisms.signal_owned[list].push("pause_signals");
  return writeRelease(files);
}

test("a seller that waits for an entry point says which, where to write it, and what it does without", async () => {
  const folder = path.join(tempFolder(), "waits");
  const made = ["cli/main.ts", "new", "seller", folder, "--specialism", "signal_owned"];
  const { output } = await run(process.execPath, [...fromSource, ...made, "--release", withNewEntryPoint()], root);
  const line = "add by hand: a handler of pause_signals to tools in src/seller.ts; it starts once it is there";
  assert.match(output, line);
  assert.match(readFileSync(path.join(folder, "README.md"), "utf8"), "has a handler of pause_signals");
  const without = await newSeller({
    folder: path.join(tempFolder(), "x"),
    release: ours,
    specialisms: ["signal_owned"],
  });
  assert.equal(without.awaited, []);
});

test("a specialism that a project claims and the newer release has no more is named with the file that claims it", async () => {
  const folder = path.join(tempFolder(), "claims");
  await newSeller({ folder, release: ours, specialisms: ["signal_owned", "signal_marketplace"] });
  const files = readFiles(ours);
  const manifest = manifestOf(files);
  delete manifest.specialisms.signal_marketplace;
  for (const tool of Object.values(manifest.tools) as { specialisms?: string[] }[]) {
    const left = tool.specialisms?.filter((id) => id !== "signal_marketplace") ?? [];
    if (left.length > 0) tool.specialisms = left;
    else delete tool.specialisms;
  }
  const { where, remedy } = await thrownBy(() => newSeller({ folder, release: writeRelease(files), specialisms: [] }));
  assert.is(where, "src/seller.ts");
  assert.match(remedy ?? "", "take it out of there first");
});

test("a folder that holds something else is left alone", async () => {
  const folder = tempFolder();
  writeFileSync(path.join(folder, "README.md"), "mine");
  try {
    await newSeller({ folder, release: ours, specialisms: ["signal_owned"] });
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code: string }).code, "usage");
  }
  assert.is(readFileSync(path.join(folder, "README.md"), "utf8"), "mine");
  assert.not(existsSync(path.join(folder, "package.json")));
});

test("a name may hold anything", async () => {
  const folder = path.join(workspace(), "named");
  const name = 'Say "$&" \\ `x`';
  await newSeller({ folder, release: ours, specialisms: ["signal_owned"], name });
  assert.match(readFileSync(path.join(folder, "src/seller.ts"), "utf8"), JSON.stringify(name));
});

test("an area needs no specialism; what nothing is answered of is refused, with what it names", async () => {
  const folder = path.join(workspace(), "areas");
  const { tools, specialisms } = await newSeller({ folder, release: ours, specialisms: [], with: ["financials"] });
  assert.equal(specialisms, []);
  assert.ok(tools.includes("get_account_financials"), `${tools}`);
  const { files } = await newSeller({ folder, release: ours, specialisms: [] });
  assert.equal(files, [], "the area is still claimed");
  const odd = path.join(tempFolder(), "odd");
  cpSync(ours, odd, { recursive: true });
  const file = path.join(odd, "manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const only = ["get_task_status"];
  manifest.tools.get_task_status.specialisms.push("task_watch");
  manifest.specialisms.task_watch = {
    protocol: "media_buy",
    title: "Tasks",
    entry_point_tools: only,
    exercised_tools: only,
  };
  writeFileSync(file, JSON.stringify(manifest));
  try {
    await newSeller({ folder: path.join(workspace(), "odd"), release: odd, specialisms: ["task_watch"] });
    assert.unreachable();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    assert.is(code, "usage");
    assert.match(message, "task_watch");
  }
});

test("the command names what it does not know", async () => {
  const cli = (...args: string[]) =>
    run(process.execPath, [...fromSource, "cli/main.ts", "new", "seller", ...args], root);
  const folder = path.join(tempFolder(), "x");
  const ours = ["--release", "proto@3.1.0"];
  const unknown = await cli(folder, "--specialism", "sales_of_moons", ...ours);
  assert.is(unknown.code, 2);
  assert.match(unknown.output, "has no specialism sales_of_moons");
  const none = await cli(folder, ...ours);
  assert.is(none.code, 2);
  assert.match(none.output, "--specialism");
  const release = await cli(folder, "--specialism", "signal_owned", "--release", "9.9.9");
  assert.is(release.code, 2);
  assert.match(release.output, "3.1.0");
  const json = await cli(folder, "--specialism", "signal_owned", "--json", ...ours);
  assert.is(json.code, 0, json.output);
  assert.ok(JSON.parse(json.output).tools.includes("get_signals"));
});

test.run();
