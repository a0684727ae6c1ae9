/** The short form of `./run fuzz seller`: one release a run, or one seller of three. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { versions } from "../behaviours/behaving-seller.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { fuzzSeller } from "./seller-run.js";

const COUNT = 600;

/** One seller of all lines. */
const TOGETHER = "in three releases";

const cells = cellsOf("./run fuzz seller", [...versions, TOGETHER], 1);

for (const version of versions.filter((one) => cells.includes(one)))
  test(`${version}: ${COUNT} calls, valid and with one fault: none crashes, breaks a schema, or changes what it was refused`, async () => {
    const { failures, handled, handledFaulty, answered } = await fuzzSeller({
      releases: [path.join(corpus, "releases", version)],
      count: COUNT,
      seed: 20_261_123,
    });
    assert.equal(failures, []);
    // Calls must get past the door, or the run says nothing.
    assert.ok(
      handled > COUNT / 3 && handledFaulty > COUNT / 10 && answered > COUNT / 5,
      `${handled} ${handledFaulty} ${answered}`,
    );
  });

/** Callers of every line at one seller: what one has said is read in the release of another. */
const together = ["3.2.4", "3.1.19", "3.0.26"].map((version) => path.join(corpus, "releases", version));
if (cells.includes(TOGETHER) && together.every((folder) => existsSync(folder)))
  test("calls in three releases of one seller: what is written in one is allowed where it is read", async () => {
    const releases = together as [string, ...string[]];
    const { calls, failures, answered } = await fuzzSeller({ releases, count: COUNT / 2, seed: 20_261_128 });
    assert.equal(failures, []);
    assert.ok(answered > calls / 5, `${answered} of ${calls}`);
  });

test.run();
