/** What may be spent is asked for before it is, and what is taken without asking is what the application says. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { GovernanceOptions } from "../../runtime/buyer/consent.js";
import type { Failure, JsonObject } from "../../runtime/contract/index.js";
import type { Says } from "../support/agent.js";
import { corpus } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";
import { capabilities, order, scene } from "./fixtures.js";

const approved = {
  check_id: "c1",
  explanation: "Within the plan.",
  verdict: "approved",
  governance_context: "token-1",
};

interface Asked {
  readonly answer: Awaited<ReturnType<Awaited<ReturnType<typeof scene>>["buyer"]["tools"]["create_media_buy"]>>;
  readonly checks: JsonObject[];
  readonly orders: JsonObject[];
}

/** An order under governance: what the agent says of each check, and what came of it. */
async function ordered(
  says: (check: JsonObject, count: number) => Says,
  more: { plan?: GovernanceOptions["check"]; buyer?: object } = {},
): Promise<Asked> {
  const agent = await scene({
    answer: ({ tool, args }, count) => (tool === "check_governance" ? says(args, count) : { payload: {} }),
  });
  const governance = {
    agent: agent.buyer,
    caller: "https://buyer.example/agent",
    check: more.plan ?? (() => ({ plan_id: "plan-1", proposed_commitment: { amount: 1_000, currency: "USD" } })),
  };
  const seller = await scene({
    declares: capabilities(),
    answer: ({ tool }) =>
      tool === "create_media_buy"
        ? { payload: { status: "completed", media_buy_id: "mb1", packages: [] } }
        : { payload: { status: "completed", products: [] } },
    buyer: { governance, ...more.buyer },
  });
  try {
    await seller.buyer.call("get_products", { buying_mode: "brief", brief: "b" });
    const answer = await seller.buyer.call("create_media_buy", order);
    const of = (made: typeof seller, name: string) =>
      made
        .calls()
        .filter(({ tool }) => tool === name)
        .map(({ args }) => args);
    return { answer, checks: of(agent, "check_governance"), orders: of(seller, "create_media_buy") };
  } finally {
    await seller.close();
    await agent.close();
  }
}

const codeOf = ({ answer }: Asked): string | undefined => (answer.answer.data as Failure).errors?.[0]?.code;
const said = (more: JsonObject): Says => ({ payload: { check_id: "c1", explanation: "Because.", ...more } });

test("a call that spends is checked with what would be sent, and goes with the approval", async () => {
  const made = await ordered(() => ({ payload: approved }));
  assert.is(made.answer.answer.status, "completed", JSON.stringify(made.answer.answer));
  assert.is(made.checks.length, 1, "reading is not checked");
  const [check] = made.checks;
  const { governance_context: token, ...sent } = made.orders[0]!;
  assert.equal(
    [check?.plan_id, check?.caller, check?.tool],
    ["plan-1", "https://buyer.example/agent", "create_media_buy"],
  );
  assert.equal([check?.payload, token], [sent, "token-1"]);
});

test("without an approval nothing is sent, whatever the reason", async () => {
  const past = "2020-01-01T00:00:00Z";
  const cases: [string, Says][] = [
    ["GOVERNANCE_DENIED", said({ verdict: "denied" })],
    ["GOVERNANCE_DENIED", said({ verdict: "approved", expires_at: past })],
    ["GOVERNANCE_DENIED", said({ verdict: "approved", expires_at: "at the end of the day" })],
    ["GOVERNANCE_DENIED", said({ verdict: "approved", expires_at: 1_577_836_800 })],
    ["GOVERNANCE_DENIED", said({ verdict: "approved", expires_at: "" })],
    ["GOVERNANCE_DENIED", said({ verdict: "perhaps" })],
    ["GOVERNANCE_CONDITIONS", said({ verdict: "conditions", conditions: [] })],
    [
      "GOVERNANCE_UNAVAILABLE",
      { payload: { errors: [{ code: "PLAN_NOT_FOUND", message: "no plan" }] }, isError: true },
    ],
    ["GOVERNANCE_UNAVAILABLE", { http: 401 }],
  ];
  for (const [code, says] of cases) {
    const made = await ordered(() => says);
    assert.equal([codeOf(made), made.orders.length, made.answer.attempts], [code, 0, 0], JSON.stringify(says));
  }
});

test("the older name of a verdict is read, and a call that needs no leave is not checked", async () => {
  const { verdict, ...older } = approved;
  const made = await ordered(() => ({ payload: { ...older, status: verdict } }));
  assert.equal([made.answer.answer.status, made.orders[0]?.governance_context], ["completed", "token-1"]);
  const free = await ordered(() => said({ verdict: "denied" }), { plan: () => undefined });
  assert.equal([free.answer.answer.status, free.checks.length], ["completed", 0]);
});

test("whom a call is for is said where the agent's release has the check say so", async () => {
  const published = (version: string) => path.join(corpus, "releases", version);
  if (!existsSync(published("3.2.4"))) return console.log("skipped: there is no corpus of releases");
  for (const [version, named] of [
    ["3.2.4", true],
    ["3.0.26", false],
  ] as const) {
    const { release } = await wholeRelease(version);
    const negotiated = { release };
    const checks: JsonObject[] = [];
    const agent: GovernanceOptions["agent"] = {
      negotiate: async () => ({ ok: true, negotiated }),
      async call(_tool, request) {
        checks.push(request);
        return { answer: { status: "completed", data: approved } as never };
      },
    };
    const governance = { agent, caller: "https://buyer.example/agent", check: () => ({ plan_id: "plan-1" }) };
    const seller = await scene({
      answer: () => ({ payload: { status: "completed", media_buy_id: "mb1" } }),
      buyer: { governance },
    });
    const { answer } = await seller.buyer.call("create_media_buy", order);
    await seller.close();
    assert.is(answer.status, "completed");
    assert.is(checks[0]?.target_agent, named ? seller.buyer.agentUrl : undefined, version);
  }
});

test("conditions are taken where the application takes them, and are checked again", async () => {
  const conditions = [{ field: "payload.packages[0].budget", required_value: 500, reason: "Too much." }];
  const says = (check: JsonObject): Says => {
    const [first] = (check.payload as { packages: { budget: number }[] }).packages;
    return first!.budget > 500 ? said({ verdict: "conditions", conditions }) : { payload: approved };
  };
  const acceptance = { conditions: () => true };
  const taken = await ordered(says, { buyer: { acceptance } });
  assert.is(taken.answer.answer.status, "completed", JSON.stringify(taken.answer.answer));
  const [sent] = taken.orders[0]!.packages as { budget: number }[];
  assert.equal([taken.checks.length, sent?.budget], [2, 500]);
  const left = await ordered(says);
  assert.equal([codeOf(left), left.orders.length], ["GOVERNANCE_CONDITIONS", 0]);
  assert.equal((left.answer.answer.data as Failure).errors[0]?.details?.conditions, conditions);
  const endless = await ordered(() => said({ verdict: "conditions", conditions }), { buyer: { acceptance } });
  assert.equal([codeOf(endless), endless.checks.length], ["GOVERNANCE_CONDITIONS", 4]);
});

test("a question is answered where the application has an answer, and is given to the caller otherwise", async () => {
  const made = async (questions: () => JsonObject | undefined) => {
    const seller = await scene({
      answer: ({ args }) => ({
        payload:
          (args as { brand?: { domain?: string } }).brand?.domain === "other.example"
            ? { status: "completed", media_buy_id: "mb1", packages: [] }
            : { status: "input-required", task_id: "t1", context_id: "c1", message: "Which brand?" },
      }),
      buyer: { acceptance: { questions } },
    });
    try {
      return (await (await seller.buyer.call("create_media_buy", order)).waitForCompletion()).status;
    } finally {
      await seller.close();
    }
  };
  assert.is(await made(() => ({ brand: { domain: "other.example" } })), "completed");
  assert.is(await made(() => undefined), "input-required");
  let asked = 0;
  const wrong = () => {
    asked += 1;
    return { brand: { domain: "wrong.example" } };
  };
  assert.equal([await made(wrong), asked], ["input-required", 3]);
});

test.run();
