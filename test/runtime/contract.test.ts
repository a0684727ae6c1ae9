import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Answer, AnyArms, Failure, TaskStatus, Tool } from "../../runtime/contract/index.js";
import {
  dispatch,
  extra,
  failureOf,
  readAnswer,
  readWebhookAnswer,
  recoveries,
  STATUS_UNKNOWN,
  specialismChecks,
  TASK_ID_MISSING,
  taskStatuses,
  UnexpectedStatusError,
  wireNames,
} from "../../runtime/contract/index.js";
import { compareVersions } from "../../runtime/contract/version-order.js";

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

test("versions stand in the order of SemVer, pre-releases by their parts", () => {
  const inOrder =
    "3.0.26 3.1.9 3.1.19 3.2.0-alpha 3.2.0-alpha.1 3.2.0-beta 3.2.0-beta.2 3.2.0-beta.10 3.2.0-rc.1 3.2.0 10.0.0";
  const versions = inOrder.split(" ");
  assert.equal(versions.toReversed().sort(compareVersions), versions);
  assert.is(compareVersions("3.2.0-beta.4", "3.2.0-beta.4"), 0);
});

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

test("submitted always names its task: without one it is a failure that says so, and nothing of it is lost", () => {
  const read = (payload: Record<string, unknown>, transport = {}) =>
    readAnswer(tool(["submitted"]), payload, "proto", transport) as Answer<AnyArms>;
  assert.is(read({ status: "submitted", task_id: "t" }).taskId, "t");
  assert.is(read({ status: "submitted" }, { taskId: "of the transport" }).taskId, "of the transport");
  assert.is(read({}, { status: "submitted", taskId: "t" }).status, "submitted");
  for (const task_id of [undefined, "", 7, null]) {
    const payload = { status: "submitted", task_id, message: "soon" };
    const answer = read(payload);
    assert.is(answer.status, "failed");
    assert.is(answer.message, "soon");
    const { errors, raw } = answer.data as { errors: { code: string; field: string }[]; raw: unknown };
    assert.equal([errors[0]?.code, errors[0]?.field, raw], [TASK_ID_MISSING, "task_id", payload]);
    assert.is(recoveryOf(errors[0]!), "terminal");
  }
  const webhook = readWebhookAnswer(tool([]), { status: "submitted", result: {} }, "proto") as Answer<AnyArms>;
  assert.is(webhook.status, "failed");
});

test("an answer without data whose status its tool does not have is at work on its task, or an error with a name", () => {
  const typed = tool(taskStatuses);
  const read = (payload: object, of = typed) => readAnswer(of, payload as never, "proto") as Answer<AnyArms>;
  for (const status of ["on-hold", "unknown"])
    assert.equal([read({ status, task_id: "t" }).status, read({ status, task_id: "t" }).taskId], ["working", "t"]);
  assert.is(read({ status: "auth-required", task_id: "t", message: "log in" }).status, "input-required");
  const lost = read({ status: "on-hold", message: "soon" });
  assert.equal([lost.status, (lost.data as Failure).errors[0]?.code], ["failed", STATUS_UNKNOWN]);
  // A media buy's own state, which 3.1 still has there, and answers of releases whose status is no task's.
  assert.is(read({ status: "active", media_buy_id: "m" }).status, "completed");
  assert.is(read({ status: "active" }, tool(["submitted"])).status, "completed");
  assert.is(read({ status: "on-hold", errors: [{ code: "X", message: "x" }] }).status, "failed");
});

/** Never called: the compiler reads it. */
export function taskIds(answer: Answer<{ submitted: object; working: object }>): number {
  if (answer.status === "submitted") return answer.taskId.length;
  // @ts-expect-error only `submitted` promises a task
  return answer.taskId.length;
}

test("a transport's word counts where the payload has none", () => {
  const status = (payload: Record<string, unknown>, transport: TaskStatus) =>
    (readAnswer(tool(taskStatuses), payload, "proto", { status: transport, taskId: "t" }) as Answer<AnyArms>).status;
  assert.is(status({}, "working"), "working");
  assert.is(status({ status: "input-required" }, "working"), "input-required");
  assert.is(status({}, "canceled"), "canceled");
  assert.is(status({ status: "rejected" }, "failed"), "rejected");
  assert.is(status({ status: "failed" }, "completed"), "failed");
});

test("a field no type declares is read as unknown, and never off a prototype", () => {
  assert.is(extra({ price: 5 }, "price"), 5);
  assert.is(extra(JSON.parse('{"__proto__":{"a":1}}'), "a"), undefined);
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"]) assert.is(extra({}, name), undefined);
  for (const none of [null, undefined, "text", 5]) assert.is(extra(none, "length"), undefined);
});

test("an answer of errors that names no task and no success has failed, whatever it says of itself", () => {
  assert.is(statusOf({ errors: [] }, [], []), "failed");
  assert.is(statusOf({ status: "completed", errors: [wire] }, taskStatuses, []), "failed");
  assert.is(statusOf({ status: "completed", errors: [wire], orders: [] }, taskStatuses, []), "completed");
  assert.is(statusOf({ status: "working", errors: [wire] }, taskStatuses, []), "failed");
  assert.is(statusOf({ status: "working", errors: [wire], task_id: "t" }, taskStatuses, []), "working");
  assert.is(statusOf({ status: "completed", errors: [wire] }, taskStatuses), "failed", "no branch demands them");
  assert.is(statusOf({ status: "completed", errors: [wire], success: true }, taskStatuses), "completed");
  assert.is(statusOf({ status: "completed", errors: [] }, taskStatuses), "completed", "no branch demands them");
  assert.is(statusOf({ status: "rejected", errors: [wire] }, taskStatuses), "rejected");
  const webhook = (failureFields?: string[]) =>
    readWebhookAnswer(tool([], failureFields), { status: "completed", result: { errors: [wire] } }, "proto").status;
  assert.is(webhook([]), "failed", "nor does a webhook's result become a completed one");
  assert.is(webhook(), "failed", "whether a branch demands them or not");
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
