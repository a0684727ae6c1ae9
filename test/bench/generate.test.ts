/** What the bench of the generator measures with must be what it says: a fair floor, real releases, a program that checks. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { measureOnce } from "../../bench/support/measure.js";
import { syntheticRelease, writeSynthetic } from "../../bench/support/synthetic.js";
import { lintRelease } from "../../generator/lint/release.js";
import { loadRelease } from "../../generator/load/load.js";
import { fromSource } from "../runner/from-source.js";

const root = path.resolve(import.meta.dirname, "../..");

const test = suite<{ folder: string }>("bench generate");

test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-bench-test-"));
});

test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

test("one seed gives one synthetic release", () => {
  const text = (seed: number): string => JSON.stringify([...syntheticRelease({ tools: 90, seed })]);
  assert.is(text(1), text(1));
  assert.is.not(text(1), text(2));
});

test("a synthetic release keeps every rule, and all its schemas but a few are reached", async ({ folder }) => {
  writeSynthetic(folder, { tools: 90, seed: 1 });
  const { findings } = await lintRelease(folder);
  assert.equal(findings, []);
  const release = await loadRelease(folder);
  const tools = Object.keys(release.manifest.tools as object);
  assert.is(tools.length, 90);
  assert.ok(release.schemas.size > 4 * tools.length, `${release.schemas.size} schemas`);
  assert.ok(release.schemas.size > 0.9 * release.source.list().length, "unreached schemas would cost nothing");
});

test("what a tool reaches does not grow with the release", async ({ folder }) => {
  const meanReach = async (tools: number): Promise<number> => {
    const at = path.join(folder, String(tools));
    writeSynthetic(at, { tools, seed: 1 });
    const release = await loadRelease(at);
    const names = Object.keys(release.manifest.tools as object);
    return names.reduce((sum, name) => sum + release.reach(name).size, 0) / names.length;
  };
  const [few, many] = [await meanReach(80), await meanReach(320)];
  assert.ok(many < 1.25 * few && few < 1.25 * many, `${few} schemas a tool among 80, ${many} among 320`);
});

test("the floor declares a type for every schema of the closure", async ({ folder }) => {
  const output = path.join(folder, "floor.ts");
  const release = path.join(root, "manifests/3.1.0");
  await measureOnce({
    args: [...fromSource, path.join(root, "bench/support/floor.ts"), release, output],
    cwd: root,
  });
  const text = readFileSync(output, "utf8");
  const { schemas } = await loadRelease(release);
  const start = text.indexOf("export interface Root {");
  const declared = text.slice(start, text.indexOf("\n}", start));
  const fields = [...declared.matchAll(/^"?([\w-]+)"?\??: /gm)].map((match) => match[1]!);
  assert.equal(fields.sort(), [...schemas.keys()].map((file) => file.slice(0, -5).replaceAll("/", "-")).sort());
  assert.match(text, /export type CreateMediaBuyRequest =/);
  assert.ok(text.match(/^export /gm)!.length > schemas.size, "a declaration per schema, at least");
});

test("the program a user might write has 25 lines", () => {
  const text = readFileSync(path.join(root, "bench/program/program.ts"), "utf8");
  assert.is(text.trimEnd().split("\n").length, 25);
  for (const name of ["handleCreateMediaBuy", "recoveryOf", "SellerFor", "checkSpecialism"]) assert.match(text, name);
});

test.run();
