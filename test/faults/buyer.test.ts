/** What `./run faults buyer` holds buyers to. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { auditOrdered, type BookedOrder, LEFT_TO_HANDLER } from "./buyer-books.js";

const order = (over: Partial<BookedOrder> = {}): BookedOrder => ({
  ...{ po: "a", key: "k", seller: "mcp", operationId: "op", taskId: "task-a", status: "completed", buy: "mb-a" },
  ...{ isTask: true, asks: false, answers: new Set<string>(), last: 0, endedAt: 1, ...over },
});

test("the audit sees what is told twice, falsely, never, or of nothing, and what is not handled once", () => {
  const told = [{ po: "a", status: "completed", buy: "mb-a" }];
  const handled = [{ task: "task-a", key: "e", status: "completed", buy: "mb-a" }];
  const books = { orders: [order()], told, handled, taken: new Map([["e", "completed of a"]]) };
  assert.equal(auditOrdered(books), []);
  const faults = (over: object): number => auditOrdered({ ...books, ...over }).length;
  assert.is(faults({ told: [] }), 1, "never told");
  assert.is(faults({ told: [...told, ...told] }), 1, "told twice");
  assert.is(faults({ told: [{ ...told[0]!, buy: "forged" }] }), 1, "told falsely");
  assert.is(faults({ told: [{ ...told[0]!, buy: LEFT_TO_HANDLER }] }), 1, "left to its handler without need");
  assert.is(faults({ orders: [order({ seller: "mute" })], told: [{ ...told[0]!, buy: LEFT_TO_HANDLER }] }), 0);
  assert.is(faults({ orders: [order({ status: "input-required" })] }), 2, "it has not ended, and was handled as ended");
  assert.is(faults({ handled: [] }), 2, "its event was taken, and nothing handled");
  assert.is(faults({ handled: [...handled, ...handled] }), 2, "handled twice");
  assert.is(faults({ orders: [] }), 2, "told and handled, and nobody's order");
});

test.run();
