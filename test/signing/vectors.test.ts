/** Published vectors of both profiles, unmodified and re-signed under the default word: outcome, code, base. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import * as signing from "../../runtime/signing/index.js";
import * as web from "../../runtime/signing/web.js";
import { loadVectors, reword } from "./corpus.js";
import { judge, runVector } from "./run-vector.js";

const backends = { node: signing, web } as const;

for (const kind of ["webhook", "request"] as const) {
  const published = loadVectors(`${kind}-signing`);
  if (published === undefined) {
    test(`${kind} vectors are skipped where there is no corpus`, () =>
      console.log(`skipped: no corpus for ${kind} vectors`));
    continue;
  }
  for (const set of [published, reword(published, "proto")]) {
    for (const [name, backend] of Object.entries(backends)) {
      for (const vector of set.vectors) {
        test(`${kind} ${set.word} ${name} has the published outcome: ${vector.file}`, async () => {
          const outcome = await runVector(backend, vector, { kind, word: set.word, keys: set.keys });
          assert.is(judge(vector, outcome), undefined);
          const { failed_step } = vector.expected_outcome;
          if (outcome.step !== undefined && outcome.step !== "9a") assert.is(outcome.step, Number(failed_step));
        });
      }
    }
  }

  test(`${kind}: a vector holds under its own word only`, async () => {
    const reworded = reword(published, "proto");
    const first = reworded.vectors[0]!;
    assert.is((await runVector(signing, first, { kind, word: "adcp", keys: published.keys })).ok, false);
    assert.is((await runVector(signing, first, { kind, word: "proto", keys: reworded.keys })).ok, true);
  });
}

test.run();
