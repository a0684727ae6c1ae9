/** The short form of `./run faults registry`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { judged } from "../support/judged.js";

const parts = { crawl: 4, import: 2 } as const;

for (const cell of cellsOf(
  "./run faults registry",
  ["crawl sqlite", "crawl postgres", "import sqlite", "import postgres"],
  1,
)) {
  const [part, engine] = cell.split(" ") as [keyof typeof parts, string];
  test(`${engine}: registries are killed in the middle of an ${part}, and end where they would have`, async () => {
    const kills = parts[part];
    // An import makes a tenth of the kills it is given.
    const given = part === "import" ? kills * 10 : kills;
    const args = ["test/faults/registry.ts", "--kills", `${given}`, "--engine", engine, "--part", part];
    const said = await judged(args, { unit: "kills", passed: kills });
    assert.ok(Number(/told (\d+)/.exec(said)?.[1]) > 10, said);
  });
}

test.run();
