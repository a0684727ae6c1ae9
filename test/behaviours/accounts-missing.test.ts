/** Accounts that a sync leaves out: which are closed, who is told, and what a seller has decided stays decided. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { behavingSeller, key, versions } from "./behaving-seller.js";

const named = (domain: string, billing = "operator") => ({ brand: { domain }, operator: "op.example", billing });
interface Line {
  readonly account_id: string;
  readonly brand: { readonly domain: string };
  readonly status: string;
  readonly action?: string;
}

for (const version of versions) {
  const seller = async (more: Parameters<typeof behavingSeller>[2] = {}) => {
    const opened = await behavingSeller(version, ["sales_non_guaranteed"], more);
    const sync = async (accounts: object[], rest: object = {}): Promise<Line[]> =>
      (await opened.ask("sync_accounts", { ...key(), accounts, ...rest })).accounts;
    const states = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await opened.ask("list_accounts", {})).accounts.map(({ brand, status }: Line) => [brand.domain, status]),
      );
    return { ...opened, sync, states };
  };

  test(`${version}: an account that could not be brought up to date was not left out`, async () => {
    const { sync, states, close } = await seller({
      ports: { accounts: { open: async (one) => one, billing: ["operator"] } },
    });
    await sync([named("a.example"), named("b.example")]);
    const [failed] = await sync([named("a.example", "advertiser"), named("b.example")], { delete_missing: true });
    assert.is(failed?.action, "failed");
    assert.equal(await states(), { "a.example": "active", "b.example": "active" });
    await close();
  });

  test(`${version}: what is closed is told, and a rehearsal tells it and closes nothing`, async () => {
    const { sync, states, close } = await seller();
    await sync([named("a.example"), named("b.example")]);
    const missing = { delete_missing: true };
    for (const dry_run of [true, false]) {
      const lines = await sync([named("a.example")], { ...missing, dry_run });
      assert.equal(
        lines.map(({ brand, status, action }) => [brand.domain, status, action]),
        [
          ["a.example", "active", "unchanged"],
          ["b.example", "closed", "updated"],
        ],
      );
      assert.is((await states())["b.example"], dry_run ? "active" : "closed");
    }
    await close();
  });

  test(`${version}: left out and named again, an account is not rid of its suspension`, async () => {
    const { ask, sync, states, close } = await seller();
    const [, second] = await sync([named("a.example"), named("b.example")]);
    const force = (status: string) =>
      ask("comply_test_controller", {
        scenario: "force_account_status",
        params: { account_id: second?.account_id, status },
      });
    await force("suspended");
    await sync([named("a.example")], { delete_missing: true });
    await sync([named("b.example")]);
    assert.is((await states())["b.example"], "suspended");
    await close();
  });

  test(`${version}: an account that is named again is opened as its seller opens it`, async () => {
    let status: "active" | "pending_approval" = "active";
    const accounts = { open: async <T extends object>(one: T) => ({ ...one, status }), billing: ["operator"] };
    const { sync, states, close } = await seller({ ports: { accounts } });
    await sync([named("a.example"), named("b.example")]);
    await sync([named("a.example")], { delete_missing: true });
    status = "pending_approval";
    await sync([named("b.example")]);
    assert.equal(await states(), { "a.example": "active", "b.example": "pending_approval" });
    await close();
  });
}

test.run();
