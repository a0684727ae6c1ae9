import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  detectFormat,
  extractA2aResponse,
  extractMcpResponse,
  extractTransportError,
  extractWebhook,
  retryAfterSeconds,
} from "../../runtime/extract/index.js";

const task = (state: string, more: object = {}) => ({ id: "t", status: { state }, ...more });
const artifact = (...data: unknown[]) => ({ artifacts: [{ parts: data.map((one) => ({ data: one })) }] });

test("a pushed event is detected inside its wrapper", () => {
  assert.is(detectFormat({ task: task("TASK_STATE_WORKING") }), "a2a");
  assert.is(detectFormat({ statusUpdate: { taskId: "t", status: { state: "working" } } }), "a2a");
  assert.is(detectFormat({ artifactUpdate: { taskId: "t" } }), null);
  assert.is(detectFormat({ status: "working" }), null);
  assert.is(detectFormat({ status: ["a"], task_id: "t" }), null);
  assert.is(detectFormat({ status: { state: "" }, task_id: "t" }), null);
  for (const odd of [null, 1, "x", [], {}, undefined]) assert.is(detectFormat(odd), null);
});

test("nested wrappers are not followed", () => {
  assert.is(extractA2aResponse({ task: { task: task("completed", artifact({ a: 1 })) } }).data, null);
  assert.is(extractA2aResponse({ statusUpdate: { task: task("working") } }).state, null);
});

test("a known format is used even where another would be detected", () => {
  const both = { ...task("completed", artifact({ a: 1 })), result: { b: 2 } };
  assert.equal(extractWebhook(both).data, { a: 1 });
  assert.equal(extractWebhook(both, "mcp").data, { b: 2 });
  assert.equal(extractWebhook({ result: { b: 2 } }), { format: null, data: null });
});

test("a state is one of the known ones, spelt either way, and nothing else", () => {
  for (const state of ["completed", "TASK_STATE_COMPLETED", "Completed"]) {
    assert.equal(extractA2aResponse(task(state, artifact({ a: 1 }))).data, { a: 1 }, state);
  }
  for (const state of ["unknown", "TASK_STATE_UNSPECIFIED", " completed", "toString", "active"]) {
    assert.is(extractA2aResponse(task(state, artifact({ a: 1 }))).data, null, state);
  }
});

test("response with null or beside others is data, not a wrapper", () => {
  for (const data of [{ response: null }, { response: [1] }, { response: {}, more: 1 }]) {
    assert.equal(extractA2aResponse(task("completed", artifact(data))), { state: "completed", data });
  }
});

test("text is tried as JSON up to a bound", () => {
  const item = (text: string) => ({ content: [{ type: "text", text }] });
  assert.equal(extractMcpResponse(item('{"a":1}')), { a: 1 });
  assert.is(extractMcpResponse(item(`{"a":"${"x".repeat(1_048_576)}"}`)), null);
  assert.is(extractMcpResponse({ content: [{ type: "image", text: '{"a":1}' }] }), null);
  assert.is(extractMcpResponse(null), null);
});

test("an error without its envelope is taken from errors, of failed responses only", () => {
  const errors = [{ code: "BUDGET_TOO_LOW", message: "m" }];
  assert.equal(extractTransportError({ isError: true, structuredContent: { errors } }), errors[0]);
  assert.is(extractTransportError({ structuredContent: { errors } }), null);
  assert.equal(extractTransportError(task("failed", artifact({ errors }))), errors[0]);
  assert.is(extractTransportError(task("working", artifact({ errors }))), null);
  assert.is(extractTransportError(task("completed", artifact({ proto_error: errors[0] }))), null);
});

test("an error is believed up to its bounds", () => {
  const of = (error: object) => extractTransportError({ isError: true, structuredContent: { proto_error: error } });
  assert.ok(of({ code: "C".repeat(64) }));
  assert.is(of({ code: "C".repeat(65) }), null);
  assert.is(of({ code: "C", details: "x".repeat(4096) }), null);
  assert.is(extractTransportError({ isError: true, structuredContent: { adcp_error: { code: "C" } } }), null);
});

test("a wrapped task's error is found", () => {
  const failed = { task: task("TASK_STATE_FAILED", artifact({ proto_error: { code: "RATE_LIMITED" } })) };
  assert.equal(extractTransportError(failed), { code: "RATE_LIMITED" });
});

test("retry_after is clamped, and ignored when it is no number", () => {
  assert.is(retryAfterSeconds({ code: "C", retry_after: 0 }), 1);
  assert.is(retryAfterSeconds({ code: "C", retry_after: 10 }), 10);
  assert.is(retryAfterSeconds({ code: "C", retry_after: Number.POSITIVE_INFINITY }), undefined);
  assert.is(retryAfterSeconds({ code: "C" }), undefined);
});

test("own __proto__ members come through and reach nobody's prototype", () => {
  const data = JSON.parse('{"__proto__":{"isAdmin":true}}');
  const found = extractMcpResponse({ structuredContent: data });
  assert.ok(Object.hasOwn(found!, "__proto__"));
  assert.is(({} as { isAdmin?: boolean }).isAdmin, undefined);
});

test.run();
