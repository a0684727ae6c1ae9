/** The page that a run of the matrix writes. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { page } from "./page.js";

test("a cell says yes or no, or nothing where the release has no such specialism, and the cells are counted", () => {
  const results = new Map([
    ["sales_social", new Map([["3.1.0", false]])],
    [
      "audience_sync",
      new Map([
        ["3.0.4", true],
        ["3.1.0", true],
      ]),
    ],
  ]);
  const lines = page(results, ["3.0.4", "3.1.0"]).split("\n");
  assert.equal(
    lines.filter((line) => line.startsWith("|")),
    ["|  | 3.0.4 | 3.1.0 |", "| --- | --- | --- |", "| audience_sync | yes | yes |", "| sales_social |  | no |"],
  );
  assert.ok(lines.includes("cells: 2 passed, 1 failed"));
});

test.run();
