/** Licences and activations on accounts under a plan that is kept here: what they cost, and whose they are. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { exampleSignals, type LicenceDecision, listedSignals, type Signal } from "../../runtime/behaviours/index.js";
import { exampleBrands } from "../../runtime/behaviours/ports/example-brands.js";
import { until } from "../support/until.js";
import { account, key, versionsWith } from "./behaving-seller.js";
import { deniedByPlan, governance_agents, governedSeller } from "./governed-seller.js";

const versions = await versionsWith("brand_rights");
const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

const licence = (campaign: object, more: object = {}) => ({
  ...{ ...key(), account, rights_id: "acme_trail_imagery", pricing_option_id: "trail_imagery_monthly" },
  buyer: { domain: "pinnacle.example" },
  campaign: { description: "Summer", uses: ["ai_generated_image"], start_date: day(0), ...campaign },
  revocation_webhook: { url: "https://pinnacle.example/revoked" },
  governance_context: "a-word-of-nobody",
  ...more,
});

// biome-ignore lint/suspicious/noExplicitAny: an answer of whatever release
const stateOf = ({ rights_status, status }: any): string => rights_status ?? status;

for (const version of versions)
  test(`${version}: a licence costs its price for each period, and is on the account that it was given to`, async () => {
    const seller = await governedSeller(version, 1_000, { specialisms: ["brand_rights"] });
    const { ask, refused, close } = seller;
    const acquired = async (campaign: object, more?: object) => ask("acquire_rights", licence(campaign, more), "one");
    const long = await acquired({ end_date: day(1_000) });
    assert.is(stateOf(long), "rejected", "33 months of 40 a month");
    const uncounted = { pricing_option_id: "trail_imagery_cpm" };
    for (const some of [{}, { estimated_impressions: 0 }]) {
      const unsaid = await refused("acquire_rights", licence({ end_date: day(10), ...some }, uncounted), "one");
      assert.equal([unsaid.code, unsaid.field], ["INVALID_REQUEST", "campaign.estimated_impressions"]);
    }
    const { rights_id, ...given } = await acquired({ end_date: day(10) });
    assert.is(stateOf(given), "acquired");
    const longer = (more: object = {}) => ({ ...key(), account, rights_id, end_date: day(1_000), ...more });
    await deniedByPlan(seller, "update_rights", longer({ governance_context: "a-word-of-nobody" }), "made as long");
    const free = { brand: { domain: "free.example" }, operator: "free.example" };
    const other = await refused("update_rights", longer({ account: free }), "one");
    assert.equal([other.code, other.field], ["REFERENCE_NOT_FOUND", "account"]);
    await ask("update_rights", longer({ end_date: day(60), governance_context: "a-word-of-nobody" }), "one");
    await close();
  });

for (const version of versions)
  test(`${version}: who has a governed account gets no licence past its plan by naming none`, async () => {
    const { ask, refused, close } = await governedSeller(version, 1_000, { specialisms: ["brand_rights"] });
    const free = licence({ end_date: day(10) }, { account: undefined, governance_context: undefined });
    const asked = { ...free, idempotency_key: key().idempotency_key };
    // Where requests have no account, a plan is asked by its token alone.
    if (version.startsWith("3.0")) assert.is(stateOf(await ask("acquire_rights", asked, "one")), "acquired");
    else {
      const { code, field } = await refused("acquire_rights", asked, "one");
      assert.equal([/^ACCOUNT_(?:REQUIRED|AMBIGUOUS)$/.test(code), field], [true, "account"]);
    }
    const { rights_id } = await ask("acquire_rights", asked, "two");
    assert.type(rights_id, "string", "who is governed by nobody needs no account");
    await close();
  });

for (const version of versions)
  test(`${version}: a licence that is refused after all binds no money any more`, async () => {
    let unwanted = "";
    const brands = {
      ...exampleBrands,
      decide: async ({ grantId }: { readonly grantId: string }): Promise<LicenceDecision> =>
        grantId === unwanted ? { decision: "refuse", reason: "No." } : { decision: "wait", detail: "Looked at." },
    };
    const seller = await governedSeller(version, 1_000, { specialisms: ["brand_rights"], ports: { brands } });
    const asked = () => seller.ask("acquire_rights", licence({ end_date: day(600) }), "one");
    const first = await asked();
    assert.is(stateOf(first), "pending_approval");
    assert.is(stateOf(await asked()), "rejected", "the plan has not as much a second time");
    unwanted = first.rights_id;
    await seller.start();
    await until(async () => stateOf(await asked()) === "pending_approval");
    await seller.close();
  });

for (const version of await versionsWith("signal_marketplace"))
  test(`${version}: each account of a brand pays for what is activated for it`, async () => {
    const [first] = exampleSignals;
    const pricing = [{ pricing_option_id: "flat", model: "flat_fee", amount: 600, period: "monthly", currency: "USD" }];
    const paid = { ...first!, pricing } as unknown as Signal;
    const seller = await governedSeller(version, 1_000, {
      specialisms: ["signal_marketplace"],
      ports: { signals: listedSignals([paid]) },
    });
    const second = { ...account, operator: "second.example" };
    await seller.ask("sync_accounts", { ...key(), accounts: [{ ...second, billing: "operator" }] }, "one");
    await seller.ask("sync_governance", { ...key(), accounts: [{ account: second, governance_agents }] }, "one");
    const activation = (of: object) => ({
      ...{ ...key(), account: of, signal_agent_segment_id: paid.segmentId, pricing_option_id: "flat" },
      destinations: [{ type: "platform", platform: "the-trade-desk" }],
      governance_context: "a-word-of-nobody",
    });
    await seller.ask("activate_signal", activation(account), "one");
    await seller.ask("activate_signal", activation(account), "one");
    await deniedByPlan(seller, "activate_signal", activation(second), "the plan has 400 left");
    await seller.close();
  });

for (const version of await versionsWith("signal_marketplace"))
  test(`${version}: of activations at one time, a platform is told of those that the plan has money for`, async () => {
    const pricing = [{ pricing_option_id: "flat", model: "flat_fee", amount: 600, period: "monthly", currency: "USD" }];
    const paid = exampleSignals.slice(0, 3).map((one) => ({ ...one, pricing }) as unknown as Signal);
    const activated: string[] = [];
    let broken = false;
    const signals = {
      ...listedSignals(paid),
      async activate({ segmentId }: Signal) {
        if (broken) throw new Error("out of order");
        activated.push(segmentId);
        await new Promise((done) => setTimeout(done, 100));
      },
    };
    const seller = await governedSeller(version, 1_000, { specialisms: ["signal_marketplace"], ports: { signals } });
    const activation = ({ segmentId }: Signal) => ({
      ...{ ...key(), account, signal_agent_segment_id: segmentId, pricing_option_id: "flat" },
      destinations: [{ type: "platform", platform: "the-trade-desk" }],
      governance_context: "a-word-of-nobody",
    });
    broken = true;
    await seller.refused("activate_signal", activation(paid[2]!), "one");
    broken = false;
    const answers = await Promise.allSettled(
      paid.slice(0, 2).map((one) => seller.ask("activate_signal", activation(one), "one")),
    );
    assert.equal([answers.filter(({ status }) => status === "fulfilled").length, new Set(activated).size], [1, 1]);
    await seller.close();
  });

for (const version of await versionsWith("signal_marketplace"))
  test(`${version}: what one platform has stays paid, though another has failed`, async () => {
    const pricing = [{ pricing_option_id: "flat", model: "flat_fee", amount: 600, period: "monthly", currency: "USD" }];
    const paid = exampleSignals.slice(0, 2).map((one) => ({ ...one, pricing }) as unknown as Signal);
    let calls = 0;
    const signals = {
      ...listedSignals(paid),
      async activate() {
        if (++calls === 2) throw new Error("out of order");
      },
    };
    const seller = await governedSeller(version, 1_000, { specialisms: ["signal_marketplace"], ports: { signals } });
    const activation = ({ segmentId }: Signal) => ({
      ...{ ...key(), account, signal_agent_segment_id: segmentId, pricing_option_id: "flat" },
      destinations: ["the-trade-desk", "dv360"].map((platform) => ({ type: "platform", platform })),
      governance_context: "a-word-of-nobody",
    });
    await seller.refused("activate_signal", activation(paid[0]!), "one");
    await deniedByPlan(seller, "activate_signal", activation(paid[1]!), "600 of 1,000 are spent");
    await seller.ask("activate_signal", activation(paid[0]!), "one");
    await seller.close();
  });

for (const version of await versionsWith("signal_marketplace"))
  test(`${version}: what a platform may have done, which had not answered in time, stays paid until that is known`, async () => {
    const pricing = [{ pricing_option_id: "flat", model: "flat_fee", amount: 600, period: "monthly", currency: "USD" }];
    const paid = exampleSignals.slice(0, 2).map((one) => ({ ...one, pricing }) as unknown as Signal);
    const keys: string[] = [];
    const signals = {
      ...listedSignals(paid),
      patienceMs: 200,
      async activate(_: Signal, _at: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) {
        if (keys.push(idempotencyKey) === 1) await new Promise((done) => setTimeout(done, 400));
      },
    };
    const seller = await governedSeller(version, 1_000, { specialisms: ["signal_marketplace"], ports: { signals } });
    const activation = ({ segmentId }: Signal) => ({
      ...{ ...key(), account, signal_agent_segment_id: segmentId, pricing_option_id: "flat" },
      destinations: [{ type: "platform", platform: "the-trade-desk" }],
      governance_context: "a-word-of-nobody",
    });
    const late = await seller.refused("activate_signal", activation(paid[0]!), "one");
    assert.is(late.code, "SERVICE_UNAVAILABLE");
    await deniedByPlan(seller, "activate_signal", activation(paid[1]!), "600 of 1,000 may be spent");
    await seller.ask("activate_signal", activation(paid[0]!), "one");
    assert.equal([keys.length, new Set(keys).size], [2, 1]);
    await seller.close();
  });

test.run();
