/** What `./run faults seller` holds sellers to. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { auditOrders } from "./library-run.js";
import { auditBuys } from "./seller-run.js";

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

test("the audit of the library's orders sees what was lost, made twice or never told", () => {
  const known = { id: "mb_1", buyer: "ada", budget: 7, paused: true, canceled: false, changes: 2 };
  const listed = (over: object = {}) =>
    new Map([["mb_1", { media_buy_status: "paused", revision: 3, total_budget: 7, ...over }]]);
  const order = (over: object = {}, budget = 7) => ({
    order: { mediaBuyId: "mb_1", lines: [{ budget }] },
    state: "paused",
    ...over,
  });
  assert.equal(auditOrders([known], listed(), [order()]), []);
  assert.is(auditOrders([known], listed(), [order(), order()]).length, 1, "booked twice");
  assert.is(auditOrders([known], listed(), []).length, 1, "never booked");
  assert.is(auditOrders([known], listed({ revision: 2, total_budget: 5 }), [order()]).length, 2, "a change was lost");
  assert.is(auditOrders([known], listed(), [order({ state: "running" }, 5)]).length, 1, "the ad server missed it");
  assert.is(auditOrders([], listed(), [order()]).length, 2, "nobody was told");
});

test.run();
