/** The short form of `./run fuzz seller`: one release a run. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { versions } from "../behaviours/behaving-seller.js";
import { corpus } from "../support/corpus.js";
import { fuzzSeller } from "./seller-run.js";

const COUNT = 600;

for (const version of versions)
  test(`${version}: ${COUNT} calls, valid and with one fault: none crashes, breaks a schema, or changes what it was refused`, async () => {
    const { failures, handled, handledFaulty, answered } = await fuzzSeller({
      release: path.join(corpus, "releases", version),
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

test.run();
