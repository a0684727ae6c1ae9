/** `constructEvent`: the check alone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release as before31 } from "../../generated/3.0.0/index.js";
import { release } from "../../generated/3.1.0/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { type ConstructOptions, constructEvent, WebhookRefused } from "../../runtime/receiver/index.js";
import { memoryReplayStore } from "../../runtime/signing/index.js";
import { createTestKey } from "../../runtime/testing/index.js";
import { envelope, keysOf, PUBLIC_URL, SELLER, START_MS, sellerKey, signed } from "../support/receiver.js";

const key = sellerKey();
const keys = keysOf(SELLER, key);
const now = () => START_MS;

const request = async (body: unknown) => {
  const { method, target, headers, body: bytes } = await signed({ key, clock: { ms: START_MS } }, body);
  return { method, url: PUBLIC_URL + target, headers, body: bytes };
};

type Given = Partial<ConstructOptions<(typeof release)["tools"]>>;

const construct = async (body: unknown, over: Given = {}) =>
  constructEvent({ request: await request(body), keys, release, now, ...over });

const refusalOf = (work: Promise<unknown>): Promise<WebhookRefused> =>
  work.then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.instance(error, WebhookRefused);
      return error as WebhookRefused;
    },
  ) as Promise<WebhookRefused>;

const buy = { media_buy_id: "mb-7", confirmed_at: null, revision: 1, packages: [] };

test("a task's event is typed by its tool and its status", async () => {
  const event = await construct(envelope({ status: "completed", result: { status: "completed", ...buy } }));
  if (event.kind !== "task" || event.taskType !== "create_media_buy") return assert.unreachable();
  if (event.answer.status !== "completed") return assert.unreachable();
  // Reads as the release's type says: `answer.data.nothing` does not compile.
  assert.is(event.answer.data.media_buy_id, "mb-7");
  assert.equal([event.sender, event.keyid, event.taskId, event.operationId], [SELLER, "key-1", "task-1", "op-1"]);
  assert.is(event.timestamp, "2026-04-18T14:00:00.000000000Z");
});

test("other kinds bring their data, and what the release does not know is unknown", async () => {
  const report = { notification_type: "final", reporting_period: {}, currency: "EUR", media_buy_deliveries: [] };
  const event = await construct(envelope({ status: "completed", result: report }), { kind: "report" });
  assert.is(event.kind === "report" && event.data.notification_type, "final");
  const change = { idempotency_key: "k".repeat(20), event: "changed", list_id: "l-1" };
  const changed = await construct(change, { kind: "list_change" });
  assert.is(changed.kind === "list_change" && changed.data.list_id, "l-1");
  assert.is((await construct(envelope({ task_type: "no_such_tool" }))).kind, "unknown");
});

test("an A2A task is read as its skill's", async () => {
  const data = { kind: "data", data: buy };
  const task = { kind: "task", id: "t-1", metadata: { task_type: "create_media_buy" } };
  const status = { state: "completed", timestamp: "2026-04-18T14:00:00Z" };
  const event = await construct({ ...task, status, artifacts: [{ artifactId: "a", parts: [data] }] });
  assert.is(event.kind === "task" && event.answer.status === "completed" && event.taskType, "create_media_buy");
});

test("what is not to be believed is thrown, with code, step and the answer to give", async () => {
  const good = await request(envelope());
  const options = { keys, release, now };
  const forged = await refusalOf(constructEvent({ ...options, request: { ...good, body: Buffer.from("{}") } }));
  assert.equal([forged.reason, forged.step], ["webhook_signature_digest_mismatch", 11]);
  assert.is(forged.answer.status, 401);
  assert.is(forged.answer.headers["www-authenticate"], 'Signature error="webhook_signature_digest_mismatch"');
  const other = await refusalOf(construct(envelope(), { keys: keysOf(SELLER, sellerKey("key-2")) }));
  assert.equal([other.code, other.reason, other.step], ["webhook_refused", "webhook_signature_key_unknown", 7]);
  const lacking = await refusalOf(construct(envelope({ task_id: undefined })));
  assert.equal([lacking.reason, lacking.step, lacking.answer.status], ["missing_envelope_fields", null, 400]);
  assert.equal(JSON.parse(lacking.answer.body), { error: "missing_envelope_fields", fields: ["task_id"] });
  const untyped = Object.entries(good.headers as Record<string, string>).filter(([name]) => name !== "Content-Type");
  const typed = await refusalOf(constructEvent({ ...options, request: { ...good, headers: untyped } }));
  assert.is(typed.answer.status, 415);
});

test("a key may be for what the release says", async () => {
  const other = createTestKey({ use: "request-signing" });
  const { method, target, headers, body } = await signed({ key: other, clock: { ms: START_MS } }, envelope());
  const given = { request: { method, url: PUBLIC_URL + target, headers, body }, keys: keysOf(SELLER, other), now };
  assert.is((await constructEvent({ ...given, release })).kind, "task");
  const refused = await refusalOf(constructEvent({ ...given, release: before31 }));
  assert.is(refused.reason, "webhook_signature_key_purpose_invalid");
});

test("nothing is kept: the same request holds again, unless nonces are remembered", async () => {
  const one = await request(envelope());
  const options = { request: one, keys, release, now };
  assert.is((await constructEvent(options)).kind, (await constructEvent(options)).kind);
  const replay = memoryReplayStore();
  await constructEvent({ ...options, replay });
  assert.is((await refusalOf(constructEvent({ ...options, replay }))).reason, "webhook_signature_replayed");
});

test("a body that was parsed is told with the remedy", async () => {
  const parsed = { ...(await request(envelope())), body: envelope() as never };
  try {
    await constructEvent({ request: parsed, keys, release, now });
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof AdbindError && error.code === "body_not_raw");
  }
});

test.run();
