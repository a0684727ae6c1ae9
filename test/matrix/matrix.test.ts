/** A cell of `./run matrix`. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createValidator } from "../../runtime/validate/index.js";
import { projectsFolder } from "../conformance/served-seller.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { wholeReleaseIn } from "../support/whole-release.js";
import { judge } from "./cell.js";
import { writeProjects } from "./projects.js";

const ids = [
  "sales_guaranteed",
  "sales_non_guaranteed",
  "creative_template",
  "signal_owned",
  "audience_sync",
  "property_lists",
];
const releases = ["3.0.26", "3.1.19", "3.2.4"].filter((version) => existsSync(path.join(corpus, "releases", version)));
if (releases.length === 0) console.log(`skipped: no published releases in ${corpus}; set ADBIND_CORPUS`);
const all = releases.flatMap((version) => ids.map((id) => `${version} ${id}`));

for (const cell of cellsOf("./run matrix", all, 1)) {
  const [version = "", specialism = ""] = cell.split(" ");
  const source = path.join(corpus, "releases", version);
  test(`${specialism} of ${version}: a project compiles, starts, is checked, and a buyer's life with it ends well`, async () => {
    const { release } = await wholeReleaseIn(source);
    const validator = await createValidator(release);
    const projects = await writeProjects(projectsFolder(tempFolder()), source, [specialism]);
    assert.equal(await judge({ project: projects.get(specialism)!, release, validator, specialism }), []);
  });
}

test.run();
