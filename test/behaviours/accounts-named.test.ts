/** An account has several names: its brand and who acts for it, and an id. By whichever it is named, it is one. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const auction = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const reserved = { product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget: 90_000 };
const other = { brand: { domain: "other.example" }, operator: account.operator };
/** A seller that has ids of its own for accounts. */
const own = { open: async <T extends object>(one: T) => ({ ...one, account_id: "crm-1" }), billing: ["operator"] };

for (const version of versions) {
  test(`${version}: an order that is repeated by another name of its account is not placed twice`, async () => {
    for (const ports of [{}, { accounts: own }]) {
      const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports });
      const order = { ...key(), account, brand, ...flight, packages: [auction] };
      const { media_buy_id } = await ask("create_media_buy", order);
      const [{ account_id }] = (await ask("list_accounts", {})).accounts;
      for (const named of [{ account_id }, { ...account, sandbox: true }]) {
        const { code } = await refused("create_media_buy", { ...order, account: named });
        assert.is(code, "IDEMPOTENCY_CONFLICT", JSON.stringify(named));
      }
      assert.is((await ask("create_media_buy", order)).media_buy_id, media_buy_id);
      assert.is((await ask("get_media_buys", { account: { account_id } })).media_buys.length, 1);
      await close();
    }
  });

  test(`${version}: a change that the ad server is told again of is one change, by either name of its account`, async () => {
    const keys = new Set<string>();
    let away = true;
    const adServer = {
      book: async () => ({ orderId: "o1" }),
      async change(_booking: unknown, _order: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) {
        keys.add(idempotencyKey);
        if (away) throw new Error("the ad server is away");
      },
      ...{ pause: async () => undefined, resume: async () => undefined, cancel: async () => undefined },
      delivery: async () => ({}),
    };
    const { seller, ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { adServer } });
    const order = { ...key(), account, brand, ...flight, packages: [auction] };
    const { media_buy_id, packages } = await ask("create_media_buy", order);
    const [{ account_id }] = (await ask("list_accounts", {})).accounts;
    const [{ package_id }] = packages;
    const change = { ...key(), media_buy_id, packages: [{ package_id, budget: 2_000 }] };
    const identity = { principal: "buyer" };
    for (const named of [account, { account_id }]) {
      const args = { ...change, account: named };
      await seller.call({ tool: "update_media_buy", args, transport: "mcp", identity });
      away = false;
    }
    assert.is(keys.size, 1);
    await close();
  });

  test(`${version}: a task of an account is found by each of its names, and by no other account's`, async () => {
    for (const ports of [{}, { accounts: own }]) {
      const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], { ports });
      const { task_id, status } = await ask("create_media_buy", {
        ...{ ...key(), account, brand, ...flight, packages: [reserved] },
      });
      assert.is(status, "submitted");
      // What opens an account whose order waits.
      await ask("sync_accounts", { ...key(), accounts: [{ ...account, billing: "operator" }] });
      const [{ account_id }] = (await ask("list_accounts", {})).accounts;
      for (const named of [account, { account_id }, { ...account, sandbox: true }]) {
        assert.is((await ask("get_task_status", { task_id, account: named })).status, "submitted");
        assert.is((await ask("list_tasks", { account: named })).tasks.length, 1, JSON.stringify(named));
      }
      const theirs = await refused("get_task_status", { task_id, account: { account_id: "acc_of_others" } });
      assert.is(theirs.code, "REFERENCE_NOT_FOUND");
      assert.is((await refused("get_task_status", { task_id, account: other })).code, "REFERENCE_NOT_FOUND");
      assert.is((await ask("list_tasks", { account: other })).tasks.length, 0);
      await close();
    }
  });
}

test.run();
