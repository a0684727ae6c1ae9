/** A test orders its tasks under ids that are the same each time it is run, and finds a seller that has run it before. */
import { randomUUID } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { BehavingSellerOptions } from "../../runtime/behaviours/index.js";
import { openDatabase } from "../../runtime/db/open.js";
import { account, behavingSeller, brand, key, type TestSeller, versions } from "./behaving-seller.js";
import { bothEngines } from "./engines.js";

const { databases, stop } = await bothEngines();
test.after(stop);

const ID = "task_of_the_storyboard";
const sandbox = { ...account, sandbox: true };
const operation = () => `op_${randomUUID()}`;
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 500, bid_price: 3 };
const order = (operation_id = operation()) => ({
  ...{ ...key(), account: sandbox, brand, packages: [line] },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  push_notification_config: {
    ...{ url: `https://buyer.example/${operation_id}`, operation_id },
    authentication: { schemes: ["HMAC-SHA256"], credentials: "a-secret-of-at-least-thirty-two-characters" },
  },
});

const command = ({ ask }: TestSeller, name: string, params: object, principal?: string) =>
  ask("comply_test_controller", { scenario: name, account: sandbox, params }, principal);

const force = (seller: TestSeller, task_id = ID, principal?: string) =>
  command(seller, "force_create_media_buy_arm", { arm: "submitted", task_id }, principal);

const complete = (seller: TestSeller, media_buy_id: string, principal?: string) => {
  const result = { media_buy_id, packages: [], revision: 1, confirmed_at: "2026-01-01T00:00:00Z" };
  return command(seller, "force_task_completion", { task_id: ID, result }, principal);
};

const open = (version: string, database: string, ports: BehavingSellerOptions["ports"] = {}) =>
  behavingSeller(version, ["sales_non_guaranteed"], { database, ports });

/** Operations of the webhooks that wait. */
async function told(url: string): Promise<unknown[]> {
  const database = await openDatabase(url);
  try {
    const rows = await database.write((query) =>
      query.rows<{ body: Uint8Array }>("select body from adbind_job_bodies", []),
    );
    return rows.map(({ body }) => JSON.parse(Buffer.from(body).toString()).operation_id);
  } finally {
    await database.close();
  }
}

for (const version of versions)
  for (const [engine, database] of Object.entries(databases)) {
    test(`${version} on ${engine}: a test is run twice, and once more when its task has ended`, async () => {
      const at = await database();
      const seller = await open(version, at);
      for (const run of ["first", "second", "third"]) {
        assert.ok((await force(seller)).success, run);
        const operation_id = operation();
        const { status, task_id } = await seller.ask("create_media_buy", order(operation_id));
        assert.equal([status, task_id], ["submitted", ID], run);
        const { media_buy_id } = await seller.ask("create_media_buy", order());
        assert.type(media_buy_id, "string", "what comes after it is answered as ever");
        if (run === "first") continue;
        const ended = await complete(seller, `mb_${run}`);
        assert.ok(ended.success, `${run}: ${JSON.stringify(ended)}`);
        assert.equal(await told(at), [operation_id], run);
      }
      await seller.close();
    });

    test(`${version} on ${engine}: a buy that a forced task has ended with is there for whoever asks for it`, async () => {
      const seller = await open(version, await database());
      const listed = async (id: string) =>
        (await seller.ask("get_media_buys", { account: sandbox, media_buy_ids: [id] })).media_buys;
      for (const [id, state] of [
        ["mb_signed", "pending_creatives"],
        ["mb_live", "active"],
      ] as const) {
        assert.ok((await force(seller)).success);
        assert.is((await seller.ask("create_media_buy", order())).status, "submitted");
        assert.equal(await listed(id), [], "it is not signed yet");
        const said = version.startsWith("3.0.") ? { status: state } : { media_buy_status: state };
        const packages = [{ ...line, package_id: `${id}_line`, budget: 700 }];
        const result = { media_buy_id: id, ...said, packages, revision: 3, confirmed_at: "2026-01-01T00:00:00Z" };
        const ended = await command(seller, "force_task_completion", { task_id: ID, result });
        assert.ok(ended.success, JSON.stringify(ended));
        const [buy] = await listed(id);
        assert.equal([buy?.media_buy_id, buy?.status, buy?.confirmed_at], [id, state, "2026-01-01T00:00:00Z"]);
        const [{ package_id, budget, product_id, end_time }] = buy.packages;
        assert.equal([package_id, budget, product_id], [`${id}_line`, 700, line.product_id]);
        assert.is(Date.parse(end_time), Date.parse("2099-02-01T00:00:00Z"), "as it was ordered");
        if (!version.startsWith("3.0.")) assert.is(buy.revision, 3);
        // The buyer goes on with it as with any other.
        const update = { ...key(), account: sandbox, media_buy_id: id, packages: [{ package_id, budget: 800 }] };
        assert.is((await seller.ask("update_media_buy", update)).media_buy_id, id);
      }
      await seller.close();
    });

    test(`${version} on ${engine}: another's task of that id stays, and his calls are not answered by it`, async () => {
      const seller = await open(version, await database());
      // Ordered by both before either has called.
      for (const principal of ["one", "other"]) assert.ok((await force(seller, ID, principal)).success);
      assert.is((await seller.ask("create_media_buy", order(), "one")).task_id, ID);
      const plain = await seller.ask("create_media_buy", order(), "other");
      assert.type(plain.media_buy_id, "string");
      const refused = await force(seller, ID, "other");
      assert.equal([refused.success, refused.error], [false, "INVALID_PARAMS"]);
      assert.match(refused.error_detail, ID);
      assert.is((await complete(seller, "mb_other", "other")).error, "NOT_FOUND");
      assert.ok((await complete(seller, "mb_one", "one")).success);
      await seller.close();
    });

    test(`${version} on ${engine}: a task that no test has ordered makes way for none`, async () => {
      const approvals = { ask: async () => ({ decision: "wait" as const }) };
      const seller = await open(version, await database(), { approvals });
      const { task_id } = await seller.ask("create_media_buy", order());
      assert.type(task_id, "string");
      for (let time = 0; time < 2; time++) {
        const refused = await force(seller, task_id);
        assert.equal([refused.success, refused.error], [false, "INVALID_PARAMS"]);
      }
      assert.is((await command(seller, "force_task_completion", { task_id, result: {} })).error, "NOT_FOUND");
      await seller.close();
    });
  }

for (const version of versions)
  test(`${version}: who orders that the next search is declined is told for what reason it will be, and it is`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"]);
    const one = { ...key(), buying_mode: "brief", brief: "video", account: sandbox };
    const params = { arm: "rejected", reason: "That is too little for it.", suggestions: ["Give more."] };
    const ordered = await command(seller, "force_get_products_arm", params);
    const search = (args: object) =>
      seller.seller.call({ tool: "get_products", args, transport: "mcp", identity: { principal: "buyer" } });
    // Older releases have no such answer.
    if (version < "3.2") {
      assert.equal([ordered.success, ordered.error], [false, "INVALID_PARAMS"]);
      assert.is((await search(one)).status, "completed");
      return seller.close();
    }
    assert.equal(ordered.forced, params);
    for (const replayed of [undefined, true]) {
      const { failed, payload } = await search(one);
      const { status, reason, suggestions } = payload;
      assert.equal([failed, { arm: status, reason, suggestions }], [false, params], "an answer, and no failure");
      assert.equal([payload.errors, payload.adcp_error, payload.replayed], [undefined, undefined, replayed]);
    }
    assert.is((await search({ ...one, ...key() })).status, "completed", "it holds for one search");
    await seller.close();
  });

test.run();
