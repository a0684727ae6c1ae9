/** `adbind check` can send every tool of a release a valid request; a cell is a release. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Sampler } from "../../runtime/conformance/check/sample.js";
import { createValidator } from "../../runtime/validate/index.js";
import { cellsOf } from "../support/cells.js";
import { publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import { wholeReleaseIn } from "../support/whole-release.js";

const root = path.resolve(import.meta.dirname, "../..");
const published = publishedReleases().filter((folder) => /3\.(0\.26|1\.19|2\.0-beta\.\d+)$/.test(folder));
const releases = new Map(
  [path.join(root, "manifests/3.0.0"), path.join(root, "manifests/3.1.0"), ...published].map((folder) => [
    path.relative(root, folder),
    folder,
  ]),
);

for (const name of cellsOf(judgeCommand("requests"), [...releases.keys()], 2))
  test(`every tool of ${name} can be sent a valid request, for a flight that lies ahead`, async () => {
    const { release } = await wholeReleaseIn(releases.get(name)!);
    const sampler = new Sampler(await release.schemas());
    const validator = await createValidator(release);
    const past = /"start_(?:time|date)":"20[0-8]/;
    for (const tool of Object.values(release.tools)) {
      for (const request of sampler.requests(tool.request))
        assert.not.match(JSON.stringify(request), past, `${tool.name} asks for a flight that has begun`);
      const key = tool.idempotency === "required" ? { idempotency_key: "0123456789abcdef" } : {};
      const made = [...sampler.requests(tool.request)].some(
        (request) => validator.request(tool.name, { ...key, ...request }).ok,
      );
      assert.ok(made, `${tool.name} of ${release.version}`);
    }
  });

test.run();
