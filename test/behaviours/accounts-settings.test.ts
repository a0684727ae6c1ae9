/** `sync_accounts`: settings of an account that is there, what names an account, and what a sync leaves alone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Account } from "../../runtime/behaviours/index.js";
import { ToolError } from "../../runtime/seller/tool-error.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

// biome-ignore lint/suspicious/noExplicitAny: answers of every release
type Line = Readonly<Record<string, any>>;

const named = (domain: string, more: object = {}) => ({
  brand: { domain },
  operator: "op.example",
  billing: "operator",
  ...more,
});
const refTo = (domain: string, more: object = {}) => ({ brand: { domain }, operator: "op.example", ...more });

for (const version of versions) {
  const updates = version !== "3.0.26";
  const anchored = version === "3.2.4";
  const seller = async (more: Parameters<typeof behavingSeller>[2] = {}) => {
    const opened = await behavingSeller(version, ["sales_non_guaranteed"], { with: ["audiences"], ...more });
    const sync = async (accounts: object[], rest: object = {}): Promise<Line[]> =>
      (await opened.ask("sync_accounts", { ...key(), accounts, ...rest })).accounts;
    const listed = async (): Promise<Line[]> => (await opened.ask("list_accounts", {})).accounts;
    return { ...opened, sync, listed };
  };
  const codes = (line: Line | undefined) => [line?.action, line?.errors?.[0].code];

  if (updates) {
    test(`${version}: settings of an account are changed by its id and by its brand, and its line is as the release has it`, async () => {
      const { sync, listed, close } = await seller();
      const [made] = await sync([named("a.example")]);
      for (const [ref, terms] of [
        [{ account_id: made?.account_id }, "net_30"],
        [refTo("a.example"), "net_45"],
      ] as const) {
        const [line] = await sync([{ account: ref, payment_terms: terms }]);
        assert.equal([line?.action, line?.payment_terms], ["updated", terms]);
        assert.equal(line?.account, anchored ? ref : undefined);
        assert.is(line?.brand?.domain, anchored ? undefined : "a.example");
      }
      assert.equal([(await listed()).length, (await listed())[0]?.payment_terms], [1, "net_45"]);
      await close();
    });

    test(`${version}: settings of an account that is not there open none`, async () => {
      const { sync, refused, listed, close } = await seller();
      const terms = { payment_terms: "net_30" };
      const [line, other] = await sync([{ account: refTo("a.example"), ...terms }, named("b.example")]);
      assert.equal(codes(line), ["failed", "UNSUPPORTED_PROVISIONING"]);
      assert.is(other?.action, "created");
      assert.is(line?.status, anchored ? undefined : "rejected");
      const unknown = [{ account: { account_id: "nobodys" }, ...terms }, named("c.example")];
      if (anchored) assert.equal(codes((await sync(unknown))[0]), ["failed", "ACCOUNT_NOT_FOUND"]);
      else {
        const { code, field } = await refused("sync_accounts", { ...key(), accounts: unknown });
        assert.equal([code, field], ["ACCOUNT_NOT_FOUND", "accounts[0].account.account_id"]);
      }
      assert.equal(
        (await listed()).map((one) => one.brand.domain),
        anchored ? ["b.example", "c.example"] : ["b.example"],
      );
      await close();
    });

    test(`${version}: settings do not open what was closed`, async () => {
      const { sync, listed, close } = await seller();
      await sync([named("a.example"), named("b.example")]);
      await sync([named("a.example")], { delete_missing: true });
      await sync([{ account: refTo("b.example"), payment_terms: "net_30" }]);
      const states = (await listed()).map((one) => [one.brand.domain, one.status]);
      assert.equal(Object.fromEntries(states), { "a.example": "active", "b.example": "closed" });
      await close();
    });
  }

  test(`${version}: an account that an order has opened was never synced, and is not missing`, async () => {
    const { ask, sync, listed, close } = await seller();
    const until = { start_time: "asap", end_time: "2099-02-01T00:00:00Z" };
    const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
    await ask("create_media_buy", { ...key(), account, brand, ...until, packages: [line] });
    const lines = await sync([named("b.example")], { delete_missing: true });
    assert.equal(
      lines.map(({ brand: of }) => of.domain),
      ["b.example"],
    );
    const states = async () => Object.fromEntries((await listed()).map((one) => [one.brand.domain, one.status]));
    assert.equal(await states(), { [brand.domain]: "active", "b.example": "active" });
    // Once it is synced, it is one of those that may be left out.
    await sync([{ ...account, billing: "operator" }]);
    await sync([named("b.example")], { delete_missing: true });
    assert.equal(await states(), { [brand.domain]: "closed", "b.example": "active" });
    await close();
  });

  test(`${version}: an account has the id of its seller's books, and is found by its brand and by that`, async () => {
    let asked = 0;
    const open = async (one: Account): Promise<Account> => {
      asked += 1;
      // One advertiser in the books, whichever agency operates for it.
      return { ...one, account_id: `crm-${one.brand?.domain}` };
    };
    const { ask, sync, refused, listed, close } = await seller({
      ports: { accounts: { open, billing: ["operator"] } },
    });
    const [made] = await sync([named("a.example")]);
    assert.equal([made?.account_id, made?.action, asked], ["crm-a.example", "created", 1]);
    assert.is((await sync([named("a.example")]))[0]?.action, "unchanged");
    assert.is(asked, 1, "what is kept is not opened again");
    const audience = { audience_id: "x", name: "X", add: [{ external_id: "u", hashed_email: "a".repeat(64) }] };
    const audiences = async (of: object, more: object = {}): Promise<Line[]> =>
      (await ask("sync_audiences", { ...key(), account: of, ...more })).audiences;
    await audiences(refTo("a.example"), { audiences: [audience] });
    assert.is((await audiences({ account_id: "crm-a.example" })).length, 1);
    const other = { ...refTo("a.example"), operator: "another.example" };
    await ask("comply_test_controller", {
      scenario: "force_account_status",
      params: { account_id: "crm-a.example", status: "suspended" },
    });
    for (const ref of [refTo("a.example"), other])
      assert.is((await refused("sync_audiences", { ...key(), account: ref })).code, "ACCOUNT_SUSPENDED");
    const found = await ask("list_accounts", {});
    assert.equal(
      found.accounts.map((one: Line) => [one.account_id, one.key]),
      [["crm-a.example", undefined]],
    );
    await sync([named("a.example"), named("b.example")], { delete_missing: true });
    await sync([named("a.example")], { delete_missing: true });
    const states = (await listed()).map((one) => [one.account_id, one.status]);
    assert.equal(Object.fromEntries(states), { "crm-a.example": "suspended", "crm-b.example": "closed" });
    await close();
  });

  test(`${version}: an account that has no brand has a line that its release allows`, async () => {
    const { ask, sync, close } = await seller();
    await ask("comply_test_controller", {
      scenario: "seed_account",
      params: { account_id: "bare", fixture: { name: "Bare" } },
    });
    if (updates) await sync([{ account: { account_id: "bare" }, payment_terms: "net_30" }]);
    await sync([], { delete_missing: true });
    await close();
  });

  test(`${version}: one account that is not opened leaves the others, and tells no bank`, async () => {
    const { sync, listed, close } = await seller({
      ports: {
        accounts: {
          billing: ["operator"],
          open: async (one) => {
            if (one.brand?.domain === "bad.example") throw new ToolError("BRAND_REQUIRED", "not this brand");
            return one;
          },
        },
      },
    });
    if (updates) {
      // As published suites have it: the line is what is rejected, and fields are named from it on.
      const config = {
        subscriber_id: "s",
        url: "https://x.example/a",
        event_types: ["creative.purged"],
        active: false,
      };
      await sync([named("d.example")]);
      const [twice] = await sync([named("d.example", { notification_configs: [config, config] })]);
      assert.equal([twice?.action, twice?.status], ["failed", anchored ? "active" : "rejected"]);
      assert.is(twice?.errors[0].field, "notification_configs[1].subscriber_id");
    }
    const bank = { account_holder: "A", iban: "DE89370400440532013000" };
    const billing_entity = { legal_name: "A GmbH", bank };
    const lines = await sync([
      named("bad.example"),
      named("a.example"),
      named("c.example", { billing: "advertiser", billing_entity }),
    ]);
    assert.equal(
      lines.map(({ action }) => action),
      ["failed", "created", "failed"],
    );
    assert.is(lines[0]?.errors[0].code, "BRAND_REQUIRED");
    // An account that was asked for and declined, whatever the release; an account of no name that anybody knows has no state.
    assert.equal([lines[0]?.status, lines[2]?.status], ["rejected", "rejected"]);
    assert.not.ok(JSON.stringify(lines).includes(bank.iban));
    assert.is((await listed()).length, updates ? 2 : 1);
    await close();
  });

  if (anchored) {
    test(`${version}: two units of an operator, and a brand in two countries, have accounts of their own`, async () => {
      const { ask, sync, listed, close } = await seller();
      const units = ["seat-1", "seat-2"].map((id) => named("a.example", { operator_unit: { id, name: `Seat ${id}` } }));
      const inCountries = (countries: string[]) => named("a.example", { brand: { domain: "a.example", countries } });
      const lines = await sync([
        named("a.example"),
        ...units,
        inCountries(["NL"]),
        inCountries(["NL", "BE"]),
        inCountries(["BE", "NL"]),
      ]);
      assert.equal(
        lines.map(({ action }) => action),
        ["created", "created", "created", "created", "created", "unchanged"],
      );
      assert.is(new Set(lines.map((one) => one.account_id)).size, 5);
      const seat = (await listed()).find(({ account_id }) => account_id === lines[1]?.account_id);
      assert.is(seat?.operator_unit.id, "seat-1");
      // The name of a unit is for people: the account stays the same.
      const renamed = { ...units[0], operator_unit: { id: "seat-1", name: "Renamed" } };
      const [again] = await sync([renamed]);
      assert.equal([again?.account_id, again?.action], [lines[1]?.account_id, "updated"]);
      const found = await ask("list_accounts", { account: refTo("a.example", { operator_unit: { id: "seat-2" } }) });
      assert.equal(
        found.accounts.map((one: Line) => one.account_id),
        [lines[2]?.account_id],
      );
      await close();
    });

    test(`${version}: an account bound to a currency or a time zone is not offered, and none is opened for one`, async () => {
      const { ask, sync, refused, listed, close } = await seller();
      const lines = await sync([
        named("a.example", { currency: "EUR" }),
        named("a.example", { timezone: "Europe/Amsterdam" }),
      ]);
      assert.equal(lines.map(codes), [
        ["failed", "UNSUPPORTED_FEATURE"],
        ["failed", "UNSUPPORTED_FEATURE"],
      ]);
      const ref = refTo("a.example", { currency: "EUR" });
      const { code, field } = await refused("sync_audiences", { ...key(), account: ref }).catch(() =>
        refused("sync_creatives", { ...key(), account: ref, creatives: [] }),
      );
      assert.equal([code, field], ["ACCOUNT_NOT_FOUND", "account.currency"]);
      assert.equal(await listed(), []);
      const { account: can } = await ask("get_adcp_capabilities", {});
      assert.equal(
        [can.supported_account_currency_modes, can.timezone],
        [["per_media_buy"], { mode: "seller_fixed", fixed_timezone: "UTC" }],
      );
      await sync([named("a.example")]);
      assert.is((await listed())[0]?.timezone, "UTC");
      await close();
    });

    test(`${version}: who changes settings of a revision that has passed is told, and changes nothing`, async () => {
      const { sync, listed, close } = await seller();
      const [made] = await sync([named("a.example")]);
      assert.is(made?.revision, 1);
      const settings = (revision: number, payment_terms: string) =>
        sync([{ account: refTo("a.example"), revision, payment_terms }]);
      const [changed] = await settings(1, "net_30");
      assert.equal([changed?.action, changed?.revision], ["updated", 2]);
      const [late] = await settings(1, "net_60");
      assert.equal([...codes(late), late?.status], ["failed", "CONFLICT", "active"]);
      const [same] = await settings(2, "net_30");
      assert.equal([same?.action, same?.revision], ["unchanged", 2]);
      const [rehearsed] = await sync([{ account: refTo("a.example"), payment_terms: "net_90" }], { dry_run: true });
      assert.equal([rehearsed?.action, rehearsed?.revision], ["updated", 2]);
      assert.equal([(await listed())[0]?.payment_terms, (await listed())[0]?.revision], ["net_30", 2]);
      await close();
    });

    test(`${version}: what is not offered of an account is refused in its line, not passed over`, async () => {
      const { sync, listed, close } = await seller();
      await sync([named("a.example")]);
      const [line] = await sync([
        {
          account: refTo("a.example"),
          revision: 1,
          operator_identity: { operator: "other.example" },
          payment_terms: "net_30",
        },
      ]);
      assert.equal(codes(line), ["failed", "UNSUPPORTED_FEATURE"]);
      assert.is(line?.errors[0].field, "operator_identity");
      assert.equal([(await listed())[0]?.operator, (await listed())[0]?.payment_terms], ["op.example", undefined]);
      await close();
    });
  }
}

test.run();
