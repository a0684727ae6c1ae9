import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Answer, AnyArms, Tool } from "../../runtime/contract.js";
import {
  dispatch,
  failureOf,
  readAnswer,
  readWebhookAnswer,
  recoveries,
  specialismChecks,
  taskStatuses,
  UnexpectedStatusError,
  wireNames,
} from "../../runtime/contract.js";

const tool = (statuses: Tool["statuses"], failureFields?: string[]): Tool<"buy", unknown, AnyArms> => ({
  name: "buy",
  protocol: "media-buy",
  mutating: true,
  idempotency: "required",
  request: "r.json",
  arms: {},
  statuses,
  ...(failureFields !== undefined && { failureFields }),
});

const statusOf = (payload: Record<string, unknown>, statuses: Tool["statuses"] = [], fields?: string[]): unknown =>
  (readAnswer(tool(statuses, fields), payload, "proto") as Answer<AnyArms>).status;

const wire = { code: "X", message: "m" };

test("a payload's status counts only where the schema types it as a task status", () => {
  assert.is(statusOf({ status: "submitted", task_id: "t" }, ["submitted"]), "submitted");
  assert.is(statusOf({ status: "rejected", rights_id: "r" }), "completed");
  assert.is(statusOf({ status: "active", id: "m" }, taskStatuses), "completed");
  assert.is(statusOf({ status: "failed" }, taskStatuses), "failed");
});

test("errors without data are a failure, and with data they are warnings", () => {
  assert.is(statusOf({ errors: [wire] }), "failed");
  assert.is(statusOf({ errors: [wire], context: {}, ext: {}, success: false }), "failed");
  assert.is(statusOf({ errors: [wire], proto_version: "3.1" }), "failed");
  assert.is(statusOf({ errors: [wire], orders: [] }), "completed");
  assert.is(statusOf({ errors: [wire], conflicting_id: "x" }, [], ["conflicting_id"]), "failed");
  assert.is(statusOf({ errors: [] }), "completed");
  assert.is(statusOf({ proto_error: wire, orders: [] }), "failed");
});

test("where a branch demands errors, an answer of nothing else has failed, whatever it says of itself", () => {
  assert.is(statusOf({ errors: [] }, [], []), "failed");
  assert.is(statusOf({ status: "completed", errors: [wire] }, taskStatuses, []), "failed");
  assert.is(statusOf({ status: "completed", errors: [wire], orders: [] }, taskStatuses, []), "completed");
  assert.is(statusOf({ status: "working", errors: [wire] }, taskStatuses, []), "working");
  assert.is(statusOf({ status: "completed", errors: [wire] }, taskStatuses), "completed", "no branch demands them");
});

test("a failure holds the errors of either place, and the payload as it came", () => {
  const payload = { proto_error: wire };
  assert.equal(failureOf(payload, "proto"), { errors: [wire], raw: payload });
  assert.equal(failureOf({ errors: [wire, "junk", null] }, "proto").errors, [wire]);
  assert.equal(failureOf(undefined, "proto").errors, []);
});

test("a webhook's result and a synchronous response reach the same handler", () => {
  const on = {
    completed: (data: unknown) => ["completed", data],
    failed: (data: unknown) => ["failed", data],
  } as never;
  const response = { order_id: "o" };
  const envelope = { status: "completed", task_id: "t", context: { a: 1 }, result: response };
  assert.equal(dispatch(readAnswer(tool([]), response, "proto"), on), ["completed", response]);
  assert.equal(dispatch(readWebhookAnswer(tool([]), envelope, "proto"), on), ["completed", response]);
  const answer = readWebhookAnswer(tool([]), envelope, "proto") as Answer<AnyArms>;
  assert.is(answer.taskId, "t");
  assert.equal(answer.context, { a: 1 });
});

test("a status without a handler is a named error, whatever it is called", () => {
  for (const status of ["working", "toString", "__proto__", "constructor", "", undefined, 5]) {
    assert.throws(
      () => dispatch({ status, data: {} } as never, { completed: () => 1 } as never),
      (error: unknown) => error instanceof UnexpectedStatusError && error.expected.includes("completed"),
    );
  }
});

const table = {
  GONE: { recovery: "terminal", suggestion: "" },
  BUSY: { recovery: "transient", suggestion: "" },
} as const;
const recoveryOf = recoveries(table, "correctable");

test("recovery: the wire's, else terminal when it makes no sense, else the table's, else the default", () => {
  assert.is(recoveryOf("GONE"), "terminal");
  assert.is(recoveryOf({ code: "GONE", recovery: "transient" }), "transient");
  assert.is(recoveryOf({ code: "BUSY", recovery: "later" }), "terminal");
  assert.is(recoveryOf({ code: "BUSY", recovery: null }), "transient");
  assert.is(recoveryOf("SOMETHING_ELSE"), "correctable");
});

test("recovery looks up own properties only, and never throws", () => {
  for (const code of ["toString", "constructor", "__proto__", "hasOwnProperty", ""])
    assert.is(recoveryOf(code), "correctable");
  fc.assert(
    fc.property(fc.anything(), (anything) => {
      assert.ok(["terminal", "transient", "correctable"].includes(recoveryOf(anything as never)));
    }),
  );
});

const check = specialismChecks({
  sales_fast: { protocol: "media-buy", entryPoints: ["buy"], exercised: ["buy", "list"], harness: ["expect"] },
});

test("a specialism check names what is missing, and takes either spelling", () => {
  assert.equal(check("sales-fast", ["list"]), {
    ok: false,
    complete: false,
    specialism: "sales_fast",
    missingEntryPoints: ["buy"],
    missingExercised: ["buy"],
  });
  const entry = check("sales_fast", { buy: () => {} });
  assert.is(entry.ok, true);
  assert.is(entry.complete, false);
  assert.equal(entry.missingExercised, ["list"]);
  assert.is(check("sales_fast", new Set(["buy", "list"])).complete, true);
});

test("an unknown specialism is a value: it may come from the other side", () => {
  for (const id of ["nope", "toString", "__proto__"]) assert.is(check(id, []).specialism, null);
});

test("wire names derive from the word", () => {
  assert.is(wireNames("proto").hmacSignatureHeader, "x-proto-signature");
  assert.is(wireNames("other").webhookTag, "other/webhook-signing/v1");
});

test.run();
