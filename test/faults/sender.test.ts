/** The short form of `./run faults sender`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { judged } from "../support/judged.js";

const KILLS = 6;

for (const engine of cellsOf("./run faults sender", ["sqlite", "postgres"], 1))
  test(`${engine}: ${KILLS} kills in the middle of deliveries, and every event still has exactly one fate`, async () => {
    const said = await judged(["test/faults/sender.ts", "--kills", `${KILLS}`, "--engine", engine], {
      unit: "kills",
      passed: KILLS,
    });
    const [, delivered, dead] = /delivered (\d+), dead (\d+)/.exec(said)!;
    assert.ok(Number(delivered) > 0 && Number(dead) > 0, said);
  });

test.run();
