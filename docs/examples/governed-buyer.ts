/** A buyer that spends nothing without a governance agent's word: one order within its plan, one that is cut down to it, one refused. */
import { createBuyer } from "adbind/buyer";
import { createSeller } from "adbind/seller";
import { release } from "#bindings";

const LIMIT = 2_000;
const seller = await createSeller({
  release,
  name: "A small seller",
  tools: {
    create_media_buy: async (request, ctx) => {
      console.log("ordered:", request.packages?.[0]?.budget);
      return ctx.complete({ media_buy_id: "mb-1", confirmed_at: null, revision: 1, packages: [] });
    },
  },
});
const board = await createSeller({
  release,
  name: "A governance agent",
  tools: {
    check_governance: async ({ plan_id, payload = {} }, ctx) => {
      const [{ budget }] = payload.packages as [{ budget: number }];
      const check = { check_id: ctx.taskId, plan_id };
      if (budget > 10 * LIMIT)
        return ctx.complete({ ...check, verdict: "denied", explanation: "Far beyond the plan.", findings: [] });
      if (budget <= LIMIT) return ctx.complete({ ...check, verdict: "approved", explanation: "Within the plan." });
      const less = { field: "payload.packages[0].budget", required_value: LIMIT, reason: "What is left of the plan." };
      return ctx.complete({ ...check, verdict: "conditions", explanation: "Too much.", conditions: [less] });
    },
  },
});

const governor = createBuyer({ release, agent: `${await board.start()}/mcp`, allowLocal: true });
const buyer = createBuyer({
  release,
  agent: `${await seller.start()}/mcp`,
  allowLocal: true,
  governance: {
    agent: governor,
    caller: "https://buyer.example/agent",
    check: ({ tool }) => (tool === "create_media_buy" ? { plan_id: "plan-q1" } : undefined),
  },
  acceptance: {
    // A smaller budget is taken without asking; anything else is for a person.
    conditions: ({ conditions }) => conditions.every(({ field }) => /\.budget$/.test(String(field))),
  },
});

for (const budget of [1_500, 5_000, 50_000]) {
  const { answer } = await buyer.tools.create_media_buy({
    account: { account_id: "acc-1" },
    brand: { domain: "outdoor.example" },
    start_time: "2027-01-01T00:00:00Z",
    end_time: "2027-01-31T00:00:00Z",
    packages: [{ product_id: "sports", pricing_option_id: "cpm", budget }],
  });
  console.log(budget, answer.status, answer.status === "failed" ? answer.data.errors[0]?.code : "");
}

await buyer.close();
await governor.close();
await seller.close();
await board.close();
