/** Who pays for an order: nobody whom the account does not name, and nobody whom its governance agents were not told of. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openAccounts } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const own = { legal_name: "Acme Outdoor Ltd", tax_id: "GB1" };
const agency = { legal_name: "Agency Ltd" };
const stranger = { legal_name: "Somebody Else Ltd" };
const line = { product_id: "run_of_site_auction", pricing_option_id: "cpm_auction", budget: 1_000, bid_price: 3 };
const order = (more: object) => ({
  ...{ ...key(), account, brand, packages: [line] },
  ...{ start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z", ...more },
});

for (const version of versions) {
  test(`${version}: an order is invoiced to the account's own entity, or to one its seller lets it name`, async () => {
    const accounts = {
      ...openAccounts,
      mayInvoice: async (_: unknown, { legal_name }: JsonObject) => legal_name === agency.legal_name,
    };
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { accounts } });
    const billed = { ...account, billing: "operator", billing_entity: own };
    await ask("sync_accounts", { ...key(), accounts: [billed] });
    const { code, field } = await refused("create_media_buy", order({ invoice_recipient: stranger }));
    assert.equal([code, field], ["PERMISSION_DENIED", "invoice_recipient"]);
    const { media_buy_id } = await ask(
      "create_media_buy",
      order({ invoice_recipient: { legal_name: own.legal_name } }),
    );
    const change = (invoice_recipient: object) => ({ ...key(), account, media_buy_id, invoice_recipient });
    assert.is((await refused("update_media_buy", change(stranger))).field, "invoice_recipient");
    assert.is((await refused("update_media_buy", change({ ...own, tax_id: "GB2" }))).field, "invoice_recipient");
    await ask("update_media_buy", change(agency));
    await close();
  });

  test(`${version}: governance agents are told who pays, and asked when somebody else is to`, async () => {
    const asked: JsonObject[] = [];
    const governance = {
      check: async ({ request }: { readonly request: JsonObject }) => {
        asked.push(request);
        return { verdict: "approved", status: "approved", check_id: "chk_1" };
      },
    };
    const accounts = { ...openAccounts, mayInvoice: async () => true };
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], {
      with: ["governance-checks"],
      ports: { accounts, governance },
    });
    const authentication = { schemes: ["Bearer"], credentials: "credentials-of-the-buyer-with-its-governance-agent" };
    const governance_agents = [{ url: "https://governance.example/mcp", authentication }];
    await ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
    const authorized = { plan_id: "plan_1", governance_context: "context.of.plan-1" };
    const { media_buy_id } = await ask("create_media_buy", order({ ...authorized, invoice_recipient: own }));
    const { governance_context } = authorized;
    const change = { ...key(), account, media_buy_id, invoice_recipient: agency, governance_context };
    await ask("update_media_buy", change);
    assert.equal(
      asked.map(({ phase, invoice_recipient }) => [phase, invoice_recipient]),
      [
        ["purchase", own],
        ["modification", agency],
      ],
    );
    await close();
  });
}

test.run();
