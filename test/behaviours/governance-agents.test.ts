/**
 * Governance agents that an account has registered are asked before its money is committed: over the wire, with the buyer's
 * credentials, and nothing is booked without their word.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type AdServer, askedGovernance } from "../../runtime/behaviours/index.js";
import type { JsonObject, Release } from "../../runtime/contract/index.js";
import { createSeller, tokenAuth } from "../../runtime/seller/index.js";
import { freePort } from "../../runtime/testing/free-port.js";
import { createValidator } from "../../runtime/validate/index.js";
import { terminator, tls } from "../support/tls-terminator.js";
import { until } from "../support/until.js";
import { account, behavingSeller, brand, key, publishedRelease, versions } from "./behaving-seller.js";

const TOKEN = "credentials-of-the-buyer-with-its-governance-agent";
const flight = { start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" };
const line = { product_id: "outdoor_ctv_q2", pricing_option_id: "cpm_standard", budget: 5000 };

interface GovernanceDouble {
  readonly url: string;
  /** What it was asked. */
  readonly asked: JsonObject[];
  /** From now on it approves up to another sum; without one it decides nothing. */
  limit(most: number | undefined): void;
  close(): Promise<void>;
}

/** An agent that approves up to a sum, for whoever has the token. */
async function governanceAgent(release: Release, first: number): Promise<GovernanceDouble> {
  let most: number | undefined = first;
  const asked: JsonObject[] = [];
  const port = await freePort();
  const renamed = Object.hasOwn(release.errors, "AUTH_MISSING");
  const agent = await createSeller({
    release,
    mode: "development",
    auth: tokenAuth({ tokens: { [TOKEN]: "seller" } }),
    tools: {
      check_governance: (request: JsonObject, ctx: { complete(data: object): never }) => {
        asked.push(request);
        const { total_budget } = request.planned_delivery as { total_budget: number };
        if (most === undefined) throw new Error("out of order");
        const verdict = total_budget <= most ? "approved" : "denied";
        const finding = { category_id: "budget_authority", severity: "critical", explanation: `over ${most}` };
        return ctx.complete({
          ...{ check_id: "chk_1", plan_id: "plan_1", explanation: `${verdict}: ${total_budget}` },
          [renamed ? "verdict" : "status"]: verdict,
          ...(verdict === "denied"
            ? { findings: [finding] }
            : { expires_at: "2099-12-31T00:00:00Z", governance_context: "context.of.plan-1" }),
        });
      },
    },
  } as never);
  await agent.start({ port });
  const { port: secure, close } = await terminator(port);
  return {
    ...{ url: `https://localhost:${secure}/mcp`, asked },
    limit(sum) {
      most = sum;
    },
    async close() {
      close();
      await agent.close();
    },
  };
}

/** An ad server that only counts. */
function counting() {
  const booked: string[] = [];
  const changed: number[] = [];
  const adServer: AdServer = {
    book: async (_order, { idempotencyKey }) => {
      booked.push(idempotencyKey);
      return { orderId: idempotencyKey };
    },
    change: async (_booking, { lines }) => void changed.push(...lines.map(({ budget }) => budget)),
    pause: async () => undefined,
    resume: async () => undefined,
    cancel: async () => undefined,
    delivery: async () => ({}),
  };
  return { adServer, booked, changed };
}

const opened = (
  version: string,
  adServer: AdServer,
  { aware = true, patienceMs = 10_000, decision = "go" as "go" | "wait", now = Date.now } = {},
) =>
  behavingSeller(version, ["sales_guaranteed"], {
    now,
    with: aware ? ["governance-checks"] : ["governance-agents"],
    ports: {
      adServer,
      approvals: { ask: async () => ({ decision }), signAfterMs: 365 * 86_400_000 },
      governance: askedGovernance({ net: { allowLoopback: true, ca: tls.cert }, patienceMs }),
    },
  });

const registered = (url: string) => ({
  ...key(),
  accounts: [{ account, governance_agents: [{ url, authentication: { schemes: ["Bearer"], credentials: TOKEN } }] }],
});

/** Both names: releases differ in which of them is the authorization. */
const authorized = { plan_id: "plan_1", governance_context: "context.of.plan-1" };
const order = (over: object = {}) => ({
  ...{ ...key(), account, brand, ...flight, packages: [line] },
  ...over,
});

for (const version of versions) {
  test(`${version}: an approval whose end is over or cannot be read books nothing`, async () => {
    let expires_at: unknown;
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], {
      with: ["governance-checks"],
      ports: { governance: { check: async () => ({ verdict: "approved", status: "approved", expires_at }) } },
    } as never);
    await ask("sync_governance", registered("https://governance.example/mcp"));
    for (expires_at of ["2020-01-01T00:00:00Z", "soon", "2099-99-99T00:00:00Z", 4_102_444_800, ""])
      assert.is((await refused("create_media_buy", order(authorized))).code, "GOVERNANCE_UNAVAILABLE", `${expires_at}`);
    for (expires_at of [undefined, null, "2099-12-31T00:00:00+02:00"]) await ask("create_media_buy", order(authorized));
    await close();
  });

  test(`${version}: a governance agent that says no at length is told of in short`, async () => {
    const finding = { category_id: "budget_authority", severity: "critical", explanation: "x".repeat(1_000) };
    const answer = { explanation: "y".repeat(1_000_000), findings: Array(2_000).fill(finding), check_id: "chk_1" };
    const { ask, refused, close } = await behavingSeller(version, ["sales_guaranteed"], {
      with: ["governance-checks"],
      ports: { governance: { check: async () => ({ verdict: "denied", status: "denied", ...answer }) } },
    });
    await ask("sync_governance", registered("https://governance.example/mcp"));
    const denied = await refused("create_media_buy", order(authorized));
    assert.is(denied.code, "GOVERNANCE_DENIED");
    assert.ok(JSON.stringify(denied).length < 5_000);
    assert.is((denied as unknown as { details: JsonObject }).details.check_id, "chk_1");
    await close();
  });

  test(`${version}: what a governance agent denies is not booked, and what it approves is`, async () => {
    const release = await publishedRelease(version);
    const agent = await governanceAgent(release, 8000);
    const { adServer, booked, changed } = counting();
    const { ask, refused, close } = await opened(version, adServer);
    await ask("sync_governance", registered(agent.url));

    const missing = await refused("create_media_buy", order());
    assert.is(missing.code, "PERMISSION_DENIED", "the account has agents, and the order names nothing they know");
    const over = await refused("create_media_buy", order({ ...authorized, packages: [{ ...line, budget: 9000 }] }));
    assert.is(over.code, "GOVERNANCE_DENIED");
    assert.match(over.message, "denied: 9000");
    const { details } = over as unknown as { details: { findings: JsonObject[] } };
    assert.is(details.findings[0]?.explanation, "over 8000");
    assert.equal(booked, []);

    const made = await ask("create_media_buy", order(authorized));
    assert.is(booked.length, 1);
    const validator = await createValidator(release);
    for (const request of agent.asked) {
      const judged = validator.request("check_governance", request);
      assert.ok(judged.ok, JSON.stringify(judged));
      assert.is(request.caller, "https://seller.example/mcp");
    }

    const [{ package_id }] = made.packages;
    const change = (budget: number) => ({
      ...{ ...key(), account, media_buy_id: made.media_buy_id, packages: [{ package_id, budget }] },
      governance_context: authorized.governance_context,
    });
    const questions = agent.asked.length;
    await ask("update_media_buy", change(4000));
    assert.is(agent.asked.length, questions, "less money needs nobody's word");
    assert.is((await refused("update_media_buy", change(9000))).code, "GOVERNANCE_DENIED");
    await ask("update_media_buy", change(7000));
    assert.equal(changed, [4000, 7000]);
    assert.is(agent.asked.at(-1)?.phase, "modification");
    await close();
    await agent.close();
  });

  test(`${version}: what is signed late is asked again, and is booked by what holds then`, async () => {
    const agent = await governanceAgent(await publishedRelease(version), 8000);
    const { adServer, booked } = counting();
    let now = Date.now();
    const { ask, decide, start, close } = await opened(version, adServer, { decision: "wait", now: () => now });
    await start({ port: 0 });
    await ask("sync_governance", registered(agent.url));
    const placed = async (): Promise<string> => (await ask("create_media_buy", order(authorized))).task_id;
    const signed = async (taskId: string) => decide({ principal: "buyer", taskId, approved: true });
    const stateOf = async (task_id: string) => ask("get_task_status", { task_id, include_result: true });
    const ends = async (task: string, status: string, stepMs = 0) =>
      until(async () => {
        now += stepMs;
        return (await stateOf(task)).status === status;
      });

    const [denied, late] = [await placed(), await placed()];
    assert.equal([agent.asked.length, booked.length], [2, 0]);
    agent.limit(4000);
    await signed(denied);
    await ends(denied, "rejected");
    assert.match(JSON.stringify(await stateOf(denied)), /denied: 5000/);
    assert.equal([agent.asked.length, booked.length], [3, 0], "what is denied now is not booked");

    agent.limit(undefined);
    await signed(late);
    await until(() => agent.asked.length > 3);
    agent.limit(5000);
    // It is asked again after a while, and once it has approved, no more.
    await ends(late, "completed", 5_000);
    const questions = agent.asked.length;
    assert.is(booked.length, 1);
    assert.is(agent.asked.at(-1)?.phase, "purchase");

    const never = await placed();
    agent.limit(undefined);
    await signed(never);
    await until(() => agent.asked.length > questions + 1);
    await ends(never, "rejected", 25 * 3_600_000);
    assert.is(booked.length, 1, "without a decision nothing is committed");
    await close();
    await agent.close();
  });

  test(`${version}: without a decision nothing is committed; a seller that does not ask says so`, async () => {
    const { adServer, booked } = counting();
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port, close: unplug } = await terminator((silent.address() as AddressInfo).port);
    const dead = `https://localhost:${await freePort()}/mcp`;
    const { ask, refused, close } = await opened(version, adServer, { patienceMs: 300 });
    for (const url of [dead, `https://localhost:${port}/mcp`]) {
      await ask("sync_governance", registered(url));
      const { code } = await refused("create_media_buy", order(authorized));
      assert.is(code, "GOVERNANCE_UNAVAILABLE", url);
    }
    assert.equal(booked, []);
    await close();
    unplug();
    silent.close();
    silent.closeAllConnections();

    const unaware = await opened(version, adServer, { aware: false });
    await unaware.ask("sync_governance", registered(dead));
    await unaware.ask("create_media_buy", order(authorized));
    assert.is(booked.length, 1);
    await unaware.close();
  });
}

for (const version of versions.includes("3.2.4") ? ["3.2.4"] : [])
  test(`${version}: an account gets no governance agent but one that the seller declares to take`, async () => {
    const any_of = [{ kind: "agent_url", agent_url: "https://trusted.example/mcp" }];
    const accepted_governance_agents = { any_of };
    const tasks = [{ task: "create_media_buy", modes: ["signed_context"] }];
    const { word } = await publishedRelease(version);
    const capabilities = { [word]: { governance_enforcement: { tasks, accepted_governance_agents } } };
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"], { capabilities });
    const authentication = { schemes: ["Bearer"], credentials: TOKEN };
    const sync = async (url: string) => {
      const accounts = [{ account, governance_agents: [{ url, authentication }] }];
      return (await ask("sync_governance", { ...key(), accounts })).accounts[0];
    };
    assert.is((await sync("https://trusted.example/mcp")).status, "synced");
    const { status, errors, governance_agents } = await sync("https://user@strange.example/mcp?of=me");
    assert.equal([status, governance_agents], ["failed", undefined]);
    assert.equal([errors[0].code, errors[0].recovery], ["GOVERNANCE_AGENT_NOT_ACCEPTED", "correctable"]);
    assert.is(errors[0].details.attempted_agent_origin, "https://strange.example");
    const { accounts } = await ask("list_accounts", {});
    assert.equal(accounts[0].governance_agents, [{ url: "https://trusted.example/mcp" }]);
    await close();
  });

test.run();
