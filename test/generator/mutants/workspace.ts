/** The release the tests change, and what is asked of every release that must be accepted. */
import path from "node:path";
import * as assert from "uvu/assert";
import { type GenerateResult, generate } from "../../../generator/index.js";
import * as mutate from "../../support/mutate-release.js";
import { type Files, writeRelease } from "../../support/release.js";
import { disagreements, importGenerated, packageFolder, placesOf } from "./judge.js";
import { broken, Refs, sample } from "./values.js";

const root = path.resolve(import.meta.dirname, "../../..");
const TOOLS = ["acquire_rights", "create_media_buy", "get_signals", "list_accounts"];

const own = mutate.cut(path.join(root, "manifests/3.1.0"), TOOLS);
export const fresh = (): Files => structuredClone(own);
const versionOf = (files: Files): string => mutate.manifestOf(files)[`${mutate.wordIn(files)}_version`];

export const errorsOf = (result: GenerateResult): string[] =>
  result.releases.flatMap(({ findings }) =>
    findings
      .filter(({ level }) => level === "error")
      .map(({ file, pointer, rule, message }) => `${file}#${pointer} ${rule}: ${message}`),
  );

/** Everything generated goes here, so that one run of the compiler judges it all. */
export const workspace = packageFolder();
let count = 0;

/** Releases generated so far. */
export const generatedCount = (): number => count;

/** Generates, precompiled validators included; fails with what the generator said. */
export async function accept(files: Files): Promise<string> {
  const out = path.join(workspace, `r${++count}`);
  const result = await generate([writeRelease(files)], { out, standalone: true });
  assert.equal(errorsOf(result), []);
  return path.join(out, versionOf(files));
}

/** Samples of every schema of every tool, the schemas' own examples, and each of these broken in some places. */
function valuesOf(files: Files, most: number) {
  const refs = new Refs(files);
  return placesOf(files).flatMap((place) => {
    const document = files[place.file] as mutate.Any;
    const examples = (document.examples ?? []).map((example: mutate.Any) => example?.data ?? example);
    const seeds = [...examples, ...[true, false].map((full) => sample(document, place.file, refs, full))];
    return seeds.flatMap((seed) => [seed, ...broken(seed, most)]).map((value) => ({ place, value }));
  });
}

/** The generated validators, compiled on use and precompiled, judge as ajv does on the schemas as they are. */
export async function agreeWithAjv(files: Files, most = 20): Promise<void> {
  const generated = await importGenerated(await accept(files), true);
  const { found, accepted, refused } = await disagreements(files, generated, valuesOf(files, most));
  assert.equal(found, []);
  assert.ok(accepted > 10 && refused > 50, `${accepted} accepted and ${refused} refused say little`);
}
