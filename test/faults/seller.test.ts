/** The short form of `./run faults seller`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { judged } from "../support/judged.js";
import { auditBuys } from "./seller-run.js";

const KILLS = 3;

test("the audit sees what is bought twice, never, or unasked", () => {
  const answers = new Map([
    ["a", "mb_1"],
    ["b", "mb_2"],
    ["c", "task-3"],
  ]);
  const good = [
    { key: "a", id: "mb_1" },
    { key: "b", id: "mb_2" },
    { key: "c", id: "mb_task-3" },
  ];
  assert.equal(auditBuys(answers, good), []);
  assert.is(auditBuys(answers, [...good, { key: "a", id: "mb_9" }]).length, 1);
  assert.is(auditBuys(answers, good.slice(1)).length, 1);
  assert.is(auditBuys(answers, [...good, { key: "d", id: "mb_4" }]).length, 1);
  assert.is(auditBuys(new Map([["a", "mb_7"]]), good.slice(0, 1)).length, 1);
});

for (const engine of cellsOf("./run faults seller", ["sqlite", "postgres"], 1))
  test(`${engine}: ${KILLS} kills buy nothing twice and lose no answer`, async () => {
    const said = await judged(["test/faults/seller.ts", "--kills", `${KILLS}`, "--engine", engine], {
      unit: "kills",
      passed: KILLS,
    });
    assert.ok(Number(/answered (\d+)/.exec(said)?.[1]) > 10, said);
  });

test.run();
