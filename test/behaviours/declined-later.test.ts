/** A seller that declines after its answer: whoever waits hears why, by whatever way he asks. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openDatabase } from "../../runtime/db/open.js";
import { a2aEvent } from "../../runtime/sender/envelope.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key, type TestSeller, versions } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const sandbox = { ...account, sandbox: true };
const REASON = "That is too little for prime time.";
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const requests = {
  create_media_buy: {
    ...{ account: sandbox, brand, packages: [line] },
    ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  },
  get_products: { buying_mode: "brief", brief: "video", account: sandbox },
};

/** A task of the tool that waits. */
async function waiting(seller: TestSeller, tool: keyof typeof requests): Promise<string> {
  const task_id = `task_${randomUUID()}`;
  const params = { arm: "submitted", task_id };
  await seller.ask("comply_test_controller", { scenario: `force_${tool}_arm`, account: sandbox, params });
  const operation_id = randomUUID();
  const push_notification_config = {
    ...{ url: `https://buyer.example/${operation_id}`, operation_id },
    authentication: { schemes: ["HMAC-SHA256"], credentials: "a-secret-of-at-least-thirty-two-characters" },
  };
  const { status } = await seller.ask(tool, { ...key(), ...requests[tool], push_notification_config });
  assert.is(status, "submitted");
  return task_id;
}

/** The webhook that waits. */
async function told(url: string) {
  const database = await openDatabase(url);
  const rows = await database.query((q) => q.rows<{ body: Uint8Array }>("select body from adbind_job_bodies"));
  await database.close();
  assert.is(rows.length, 1);
  return JSON.parse(Buffer.from(rows[0]!.body).toString());
}

const asked = (seller: TestSeller, task_id: string, more: object = {}) =>
  seller.ask("get_task_status", { task_id, ...more });

for (const version of versions)
  for (const [engine, made] of Object.entries(databases))
    test(`${version} on ${engine}: an order that is declined later ends with an error that says why, in whatever words the seller did`, async () => {
      for (const refusal of [{ reason: REASON }, { code: "TERMS_REJECTED", message: REASON }]) {
        const url = await made();
        const seller = await behavingSeller(version, ["sales_non_guaranteed"], { database: url });
        const id = await waiting(seller, "create_media_buy");
        await seller.seller.task(id).reject(refusal);
        const { status, result } = await told(url);
        assert.equal([status, result.errors.length, result.errors[0].message], ["rejected", 1, REASON]);
        const found = await asked(seller, id, { include_result: true });
        assert.equal([found.status, found.error], ["rejected", result.errors[0]]);
        // Releases before 3.2 have results of completed tasks only.
        assert.equal(found.result, version < "3.2" ? undefined : result);
        assert.is((await asked(seller, id)).result, undefined);
        await seller.close();
      }
    });

for (const version of versions)
  test(`${version}: a reason that is longer than a message may be ends in a whole character`, async () => {
    const url = await databases.SQLite();
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], { database: url });
    const id = await waiting(seller, "create_media_buy");
    await seller.seller.task(id).reject({ reason: `${"x".repeat(999)}\u{1f4c9}${"x".repeat(9)}` });
    const { result } = await told(url);
    assert.is(result.errors[0].message, "x".repeat(999));
    assert.equal((await asked(seller, id)).error, result.errors[0]);
    await seller.close();
  });

if (!existsSync(path.join(corpus, "releases", "3.2.4"))) console.log(`skipped: no release 3.2.4 in ${corpus}`);
else
  test("a search that is declined later is an answer with its reason, and no failure", async () => {
    const url = await databases.SQLite();
    const seller = await behavingSeller("3.2.4", ["sales_non_guaranteed"], { database: url });
    const id = await waiting(seller, "get_products");
    const declined = { reason: REASON, suggestions: ["Give more."] };
    await seller.seller.task(id).reject(declined);
    const { status, result } = await told(url);
    assert.equal([status, result], ["rejected", { status: "rejected", ...declined }]);
    const found = await asked(seller, id, { include_result: true });
    assert.equal([found.status, found.error, found.result], ["rejected", undefined, result]);
    assert.is((await asked(seller, id)).message, REASON);
    await seller.close();
  });

test("over A2A a refusal with errors is one, also where its data has a status, and a decline is an answer", () => {
  const event = {
    key: "k",
    operationId: "o",
    taskId: "t",
    tool: "create_media_buy",
    timestamp: "2026-01-01T00:00:00Z",
  };
  const stateOf = (result: object) =>
    (a2aEvent({ ...event, surface: {}, status: "rejected", result } as never).status as { state: string }).state;
  assert.is(stateOf({ status: "rejected", reason: REASON }), "completed");
  assert.is(
    stateOf({ status: "rejected", reason: REASON, errors: [{ code: "TERMS_REJECTED", message: REASON }] }),
    "rejected",
  );
  assert.is(stateOf({ errors: [{ code: "TERMS_REJECTED", message: REASON }] }), "rejected");
});

test.run();
