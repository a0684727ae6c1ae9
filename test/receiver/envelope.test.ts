import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { instantMs, toInstant } from "../../runtime/moment.js";
import { readEnvelope } from "../../runtime/receiver/envelope.js";
import { timeOf } from "../../runtime/receiver/instant.js";
import type { EventKind } from "../../runtime/store/types.js";
import { envelope, START_MS } from "../support/receiver.js";

const read = (body: unknown, kind: EventKind = "task", format: "mcp" | "a2a" | null = null) =>
  readEnvelope(body, { kind, format, now: START_MS, raw: Buffer.from(JSON.stringify(body) ?? "") });

const problem = (body: unknown, kind?: EventKind, format?: "mcp" | "a2a") => {
  const result = read(body, kind, format);
  return result.ok ? "fine" : `${result.code} ${result.fields.join(",")}`.trim();
};

const file = path.join(process.env.ADBIND_CORPUS ?? "../shared", "vectors/webhook-receiver-envelope.json");

test("published receiver envelopes are accepted or refused as they say", () => {
  if (!existsSync(file)) return console.log(`skipped: envelope vectors, ${file} is not there`);
  const { positive, negative } = JSON.parse(readFileSync(file, "utf8"));
  assert.is(positive.length, 2);
  assert.is(negative.length, 3);
  const keys = new Set<string>();
  for (const { id, payload } of positive) {
    const result = read(payload, "report");
    assert.ok(result.ok, id);
    if (result.ok) keys.add(result.envelope.key);
    assert.is(problem(payload, "task"), "fine", id);
  }
  assert.is(keys.size, 1, "a retry of one event");
  for (const { id, payload, expected_error } of negative) {
    for (const kind of ["report", "task"] as const) assert.is(problem(payload, kind).split(" ")[0], expected_error, id);
  }
});

test("instants compare whatever offset and precision they were written in", () => {
  const sorted = [
    "2026-04-18T13:59:59.999999999Z",
    "2026-04-18T16:00:00+02:00",
    "2026-04-18T14:00:00.000000001Z",
    "2026-04-18T14:00:00.1Z",
    "2026-04-18t12:00:00.11-02:00",
    "2026-04-18T14:00:59.999Z",
    "2026-04-18T14:00:60Z",
    "2026-04-18 14:01:00z",
  ].map((text) => toInstant(text)!);
  assert.equal([...sorted].sort(), sorted);
  assert.is(new Set(sorted).size, sorted.length);
  assert.is(toInstant("2026-04-18T16:00:00+02:00"), toInstant("2026-04-18T14:00:00.000Z"));
});

test("a time that is no instant is refused", () => {
  for (const text of [
    "2026-04-18",
    "2026-04-18T14:00:00",
    "2026-02-30T14:00:00Z",
    "2026-13-01T14:00:00Z",
    "2026-04-18T25:00:00Z",
    "0000-01-01T00:00:00+14:00",
    "1776520800",
    " 2026-04-18T14:00:00Z",
    "",
    1_776_520_800,
    null,
  ]) {
    assert.is(toInstant(text), undefined, String(text));
  }
});

test("instants agree with the clock, for any time", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      assert.is(instantMs(toInstant(date.toISOString())!), date.getTime());
    }),
  );
});

test("every missing field of a task is named", () => {
  const fields = ["idempotency_key", "task_id", "task_type", "status", "timestamp"];
  assert.is(problem({}), `missing_envelope_fields ${fields.join(",")}`);
  for (const field of fields.slice(1)) {
    assert.is(problem(envelope({ [field]: undefined })), `missing_envelope_fields ${field}`);
    assert.is(problem(envelope({ [field]: null })), `missing_envelope_fields ${field}`);
  }
});

test("fields of the wrong form are named", () => {
  assert.is(problem(envelope({ status: "active" })), "invalid_envelope_status status");
  assert.is(problem(envelope({ status: 3 })), "invalid_envelope_status status");
  assert.is(problem(envelope({ timestamp: "yesterday" })), "invalid_envelope_fields timestamp");
  assert.is(problem(envelope({ idempotency_key: "short" })), "invalid_envelope_fields idempotency_key");
  assert.is(problem(envelope({ idempotency_key: "k".repeat(256) })), "invalid_envelope_fields idempotency_key");
  assert.is(problem(envelope({ task_id: "a\u0000b" })), "invalid_envelope_fields task_id");
  assert.is(problem(envelope({ task_id: "\ud800" })), "invalid_envelope_fields task_id");
  assert.is(problem(envelope({ operation_id: "é".repeat(513) })), "invalid_envelope_fields operation_id");
  assert.is(problem(envelope({ status: "active", task_id: 1 })), "invalid_envelope_fields task_id,status");
});

test("domain or protocol, and anything unknown, pass", () => {
  assert.is(problem(envelope({ domain: "media-buy" })), "fine");
  assert.is(problem(envelope({ protocol: "media-buy", context: { a: 1 }, x: [1] })), "fine");
  assert.is(problem(envelope({ task_type: "a_tool_of_tomorrow", result: undefined })), "fine");
});

test("kinds without a task envelope need their own few fields", () => {
  const key = "0123456789abcdef";
  assert.is(problem({ idempotency_key: key, notification_id: "imp-1" }, "impairment"), "fine");
  assert.is(problem({}, "impairment"), "missing_idempotency_key idempotency_key");
  const change = { idempotency_key: key, event: "property_list_changed", list_id: "l" };
  assert.is(problem(change, "list_change"), "fine");
  assert.is(problem({ idempotency_key: key }, "list_change"), "missing_envelope_fields event,list_id");
  const push = { idempotency_key: key, media_buy_id: "m", batch_id: "b", artifacts: [] };
  assert.is(problem(push, "artifact"), "fine");
  assert.is(problem({ ...push, artifacts: "x" }, "artifact"), "invalid_envelope_fields artifacts");
  assert.is(problem({ idempotency_key: key, rights_id: "r", brand_id: "b" }, "rights"), "fine");
});

test("a notification id is found where it may stand", () => {
  const id = (body: object, kind: EventKind) => {
    const result = read({ idempotency_key: "0123456789abcdef", ...body }, kind);
    return result.ok ? result.envelope.notificationId : undefined;
  };
  assert.is(id({ notification_id: "n" }, "impairment"), "n");
  assert.is(id({ result: { notification_id: "n" } }, "impairment"), "n");
  assert.is(id({ impairment_id: "i" }, "impairment"), "i");
  assert.is(id({}, "impairment"), null);
});

const task = { id: "t-1", contextId: "c", status: { state: "completed", timestamp: "2026-04-18T14:00:00Z" } };

test("A2A tasks and events have identifiers of A2A, and a key of their own or of their bytes", () => {
  const of = (body: unknown) => {
    const result = read(body, "task", "a2a");
    if (!result.ok) throw new Error(result.code);
    return result.envelope;
  };
  const plain = of(task);
  assert.equal([plain.taskId, plain.status, plain.terminal, plain.ordered], ["t-1", "completed", true, true]);
  assert.match(plain.key, /^a2a:/);
  assert.is(of(task).key, plain.key, "a retry has the same bytes");
  assert.is.not(of({ ...task, contextId: "d" }).key, plain.key);
  const keyed = of({ ...task, metadata: { idempotency_key: "0123456789abcdef", operation_id: "op-1" } });
  assert.equal([keyed.key, keyed.operationId], ["0123456789abcdef", "op-1"]);
  const update = of({ statusUpdate: { taskId: "t-2", status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
  assert.equal([update.taskId, update.status, update.terminal], ["t-2", "input-required", false]);
  assert.is(update.time?.instant, "2026-04-18T14:00:00.000000000", "the time of arrival");
  const artifact = of({ artifactUpdate: { taskId: "t-3", artifact: {} } });
  assert.equal([artifact.taskId, artifact.status, artifact.ordered], ["t-3", null, false]);
});

test("a time up to a minute ahead is its sender's word to the millisecond, whichever way the clock goes", () => {
  const text = (ms: number): string => new Date(ms).toISOString();
  for (const now of [START_MS, START_MS + 1, START_MS + 999, START_MS + 1_000, START_MS - 7, START_MS - 86_400_000]) {
    assert.is(timeOf(text(now + 60_000), now).by, "sender", `${now}`);
    assert.is(timeOf(text(now - 5_000), now).by, "sender");
    const ahead = timeOf(text(now + 60_001), now);
    assert.equal(ahead, { instant: `${text(now).slice(0, 23)}000000`, by: "arrival", early: true });
  }
});

test("A2A posts that are no task", () => {
  assert.is(problem({ message: { role: "agent", parts: [] } }, "task", "a2a"), "unsupported_event");
  assert.is(problem({ status: { state: "working" } }), "missing_envelope_fields id");
  assert.is(problem({ ...task, id: 7 }), "invalid_envelope_fields id");
});

test("no body whatever makes it throw", () => {
  const kinds: EventKind[] = ["task", "report", "impairment", "list_change", "artifact", "rights"];
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom(...kinds),
      fc.constantFrom(null, "mcp", "a2a"),
      (body, kind, format) => {
        read(body, kind, format as null);
      },
    ),
    { numRuns: 2000 },
  );
});

test.run();
