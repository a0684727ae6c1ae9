/** Every published suite is read whole, and has no kind of check or task that the runner would have to leave ungraded. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { create } from "tar";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkRunner } from "../../runtime/conformance/checks/index.js";
import { faultySteps } from "../../runtime/conformance/faulty-steps.js";
import { loadSuite } from "../../runtime/conformance/index.js";
import { ownTask } from "../../runtime/conformance/own-tasks.js";
import { stepHash } from "../../runtime/conformance/step-words.js";
import { cellsOf } from "../support/cells.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";

const suiteAt = (version: string) => loadSuite(path.join(corpus, "compliance", version));

/** Storyboards and steps of each, counted by hand once. */
const published = [
  { version: "3.0.26", storyboards: 63, steps: 400 },
  { version: "3.1.19", storyboards: 122, steps: 771 },
  { version: "3.2.0-beta.4", storyboards: 171, steps: 1151 },
  { version: "3.2.4", storyboards: 1, steps: 23 },
] as const;

const versions = publishedReleases().length === 0 ? [] : published.map(({ version }) => version);
const taken = new Set<string>(cellsOf("ADBIND_CELLS=all ./run test test/conformance/suites", versions, 2));

for (const { version, storyboards, steps } of published.filter((one) => taken.has(one.version)))
  test(`the suite of ${version} is read whole, and every check of it is known`, async () => {
    const suite = await suiteAt(version);
    assert.is(suite.version, version);
    const all = suite.storyboards.flatMap(({ phases }) => phases.flatMap((phase) => phase.steps));
    assert.equal([suite.storyboards.length, all.length], [storyboards, steps]);
    const kinds = new Set(all.flatMap(({ validations = [] }) => validations.map(({ check }) => check)));
    assert.equal(
      [...kinds].filter((kind) => checkRunner(kind) === undefined),
      [],
    );
    const own = all.filter(({ task }) => /^(expect|assert|replay|fetch)_|_metadata$|^trusted_match/.test(task));
    assert.equal(
      own.filter(({ task }) => ownTask(task) === undefined).map(({ task }) => task),
      [],
    );
  });

test("each step on the list of faulty ones is in its suite, as it was when it was put there", async () => {
  for (const { release, storyboard, step, hash } of faultySteps.filter((one) => taken.has(one.release))) {
    const suite = await suiteAt(release);
    const found = suite.storyboards
      .find(({ id }) => id === storyboard)
      ?.phases.flatMap(({ steps }) => steps)
      .find(({ id }) => id === step);
    assert.is(found && stepHash(found), hash, `${storyboard}/${step}`);
  }
});

const small = {
  "universal/one.yaml": "id: one\nphases:\n  - id: p\n    steps:\n      - {id: s, task: get_products}\n",
  "universal/prose.yaml": "id: prose\ndescription: no storyboard\n",
  "domains/copy/index.yaml": "id: one\nphases: []\n",
};

test("a suite is read from a bundle as from its folder, and a file that is no storyboard is none", async () => {
  const folder = tempFolder();
  for (const [name, content] of Object.entries(small)) {
    const file = path.join(folder, "bundle-1/compliance", name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  writeFileSync(path.join(folder, "bundle-1/bundle-manifest.json"), '{"published_version":"9.9.9"}');
  const archive = path.join(folder, "bundle.tgz");
  await create({ gzip: true, file: archive, cwd: folder }, ["bundle-1"]);
  for (const place of [archive, folder]) {
    const suite = await loadSuite(place);
    assert.is(suite.version, "9.9.9");
    assert.equal(
      suite.storyboards.map(({ id, file }) => [id, file]),
      [["one", "universal/one.yaml"]],
    );
  }
});

test("what is no suite is said to be none, and where", async () => {
  for (const place of [tempFolder(), "/nowhere/at/all"]) {
    try {
      await loadSuite(place);
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, new RegExp(`the suite cannot be read.*${place}`));
    }
  }
});

test.run();
