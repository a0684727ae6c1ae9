/** What `adbind new seller` writes for specialisms that the library answers: it compiles, starts and is small. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { newSeller } from "../../generator/scaffold/index.js";
import { behaviours } from "../../runtime/behaviours/index.js";
import { ownTests, root, typeCheck, workspace } from "../scaffold/project.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { versions } from "./behaving-seller.js";

test("the scaffold knows what the library answers", () => {
  const listed: unknown = JSON.parse(readFileSync(path.join(root, "templates/project/areas.json"), "utf8"));
  const entries = behaviours.map(({ area, tools, needs = [] }) => [area, { tools: Object.keys(tools).sort(), needs }]);
  assert.equal(listed, Object.fromEntries(entries));
});

const newest = versions.at(-1);

const claimed = ["sales_guaranteed", "signal_owned"];
for (const specialism of newest === undefined
  ? []
  : cellsOf("ADBIND_CELLS=all ./run test test/behaviours", claimed, 1)) {
  test(`a project of ${specialism} is twelve files at most, compiles and passes its own test`, async () => {
    const folder = path.join(workspace(), specialism);
    const release = path.join(corpus, "releases", newest!);
    const { files, open } = await newSeller({ folder, release, specialisms: [specialism] });
    const lines = files.map((file) => readFileSync(path.join(folder, file), "utf8").split("\n").length);
    assert.ok(files.length <= 12, files.join(", "));
    assert.ok(lines.reduce((sum, one) => sum + one, 0) <= 400, `${lines}`);
    const readme = readFileSync(path.join(folder, "README.md"), "utf8");
    for (const tool of open) assert.match(readme, tool);
    const types = await typeCheck(folder);
    assert.is(types.code, 0, types.output);
    const own = await ownTests(folder);
    assert.is(own.code, 0, own.output);
  });
}

test.run();
