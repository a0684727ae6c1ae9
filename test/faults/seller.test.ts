/** The short form of `./run faults seller`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { auditBuys, runSellerFaults } from "./seller-run.js";

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

for (const engine of ["sqlite", "postgres"] as const) {
  test(`${engine}: ${KILLS} kills buy nothing twice and lose no answer`, async () => {
    const ledger = await runSellerFaults({ engine, kills: KILLS });
    assert.equal(ledger.faults, []);
    assert.is(ledger.kills, KILLS);
    assert.ok(ledger.answered > 10, JSON.stringify(ledger));
  });
}

test.run();
