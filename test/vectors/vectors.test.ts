/** Every published vector of the corpus, under the facts of its release, with both words. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { publishedGroups, words } from "./suites.js";

const groups = await publishedGroups();
if (groups.length === 0)
  test("published vectors are skipped where there is no corpus", () => console.log("skipped: there is no corpus"));

/** The figures that must not shrink unseen. */
const counts = {
  "profile-3.2": 46,
  a2a: 33,
  canonicalization: 41,
  "body-integrity": 17,
  "cross-check": 14,
  vectors: 15,
};

for (const { release, suite, group, cases } of groups) {
  test(`${release} ${suite} ${group} is judged as published`, async () => {
    if (release === "3.2.4" && Object.hasOwn(counts, group))
      assert.is(cases.length, counts[group as keyof typeof counts]);
    const faults: string[] = [];
    for (const word of words) {
      for (const one of cases) {
        const fault = await one.run(word);
        if (fault !== undefined) faults.push(`${one.name} (${word}): ${fault}`);
      }
    }
    assert.equal(faults, []);
  });
}

test.run();
