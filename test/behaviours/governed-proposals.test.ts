/** An order is changed by a proposal under the approval that its acceptance carries, and no older one. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type GovernancePort, listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, key } from "./behaving-seller.js";

const version = "3.2.4";
const there = existsSync(path.join(corpus, "releases", version));
if (!there) console.log(`skipped: no release ${version} in ${corpus}`);

const product: Product = {
  ...{ product_id: "video", name: "Video", description: "Online video before outdoor programmes." },
  ...{ delivery_type: "non_guaranteed", channels: ["olv"], formats: ["video_30s"] },
  pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", fixed_price: 20 }],
};

if (there)
  test("the agents of an account are shown the approval that came with the acceptance", async () => {
    const asked: JsonObject[] = [];
    const governance: GovernancePort = {
      async check({ request }) {
        asked.push(request);
        return { verdict: "approved", expires_at: "2099-12-31T00:00:00Z" };
      },
    };
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"], {
      with: ["governance-checks"],
      ports: {
        catalogue: listedCatalogue([product]),
        approvals: { ask: async () => ({ decision: "go" }) },
        governance,
      },
    });
    const authentication = { schemes: ["Bearer"], credentials: "x".repeat(40) };
    const governance_agents = [{ url: "https://gov.example/mcp", authentication }];
    await ask("sync_governance", { ...key(), accounts: [{ account, governance_agents }] });
    const refined = async (proposal_id: string, more: object) =>
      (await ask("refine_proposals", { ...key(), refinements: [{ proposal_id, ...more }] })).results[0];
    const accepted = async (draft: string, governance_context: string) => {
      const { proposal } = await refined(draft, { action: "finalize" });
      const { proposal_id, terms_digest: proposal_terms_digest } = proposal;
      return ask("accept_proposal", { ...key(), account, proposal_id, proposal_terms_digest, governance_context });
    };
    const brief = "USD 4,000 of video from January 5 through March 31, 2099.";
    const { proposals } = await ask("request_proposals", { ...key(), account, brief });
    const { accepted_proposal: agreed } = await accepted(proposals[0].proposal_id, "approval.of.4000");
    const more = { total_budget: { min: 6_000, currency: "USD" } };
    const amended = await refined(agreed.proposal_id, { action: "revise", constraints: more });
    await accepted(amended.proposals[0].proposal_id, "approval.of.2000");
    assert.equal(
      asked.map((one) => [one.governance_context, (one.execution_commitment as JsonObject).amount]),
      [
        ["approval.of.4000", 4_000],
        ["approval.of.2000", 2_000],
      ],
    );
    await close();
  });

test.run();
