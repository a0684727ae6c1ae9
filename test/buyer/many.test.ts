/** Several agents at once, named in a file or in the environment, and what is required of one before it is called. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agentsFrom, createBuyers, type NamedAgent } from "../../runtime/buyer/index.js";
import { type Says, startAgent } from "../support/agent.js";
import { PUBLIC_URL, SELLER, setup } from "../support/receiver.js";
import { codeOf } from "../support/thrown.js";
import { capabilities, order, release, scene } from "./fixtures.js";

test("agents come from a file and the environment, which wins; secrets may stay in it", async () => {
  const file = {
    agents: {
      "Acme-TV": { url: "https://acme.example/mcp", transport: "mcp", tokenEnv: "ACME" },
      plain: "https://plain.example",
    },
  };
  const env = { ACME: "secret-1", ADBIND_AGENT_PLAIN: "https://other.example", ADBIND_AGENT_PLAIN_TOKEN: "secret-2" };
  assert.equal(agentsFrom(file, env), {
    acme_tv: { agent: { url: "https://acme.example/mcp", transport: "mcp" }, auth: { bearer: "secret-1" } },
    plain: { agent: { url: "https://other.example", transport: "auto" }, auth: { bearer: "secret-2" } },
  });
  for (const bad of [
    { agents: { a: { url: "x" } } },
    { agents: { a: { url: "https://a.example", key: "1" } } },
    { agents: [] },
  ])
    assert.is(await codeOf(() => agentsFrom(bad, {})), "buyer_option_invalid");
  assert.is(
    await codeOf(() => agentsFrom(file, {})),
    "buyer_option_invalid",
    "the variable that holds the token is not set",
  );
});

test("who answers by the deadline is heard, and who does not is named", async () => {
  const quick = await startAgent({ answer: ({ tool }) => says(tool) });
  const never = await startAgent({ answer: () => new Promise<Says>(() => {}) });
  const says = (tool: string): Says =>
    tool === "get_agent_capabilities"
      ? { payload: capabilities() }
      : { payload: { status: "completed", products: [] } };
  const buyers = createBuyers({ release, agents: { quick: quick.mcp, never: never.mcp }, allowLocal: true });
  try {
    assert.equal(buyers.names, ["quick", "never"]);
    const [first, second, ...more] = await buyers.each(
      "all",
      (buyer, { signal }) => buyer.call("get_products", { buying_mode: "brief", brief: "b" }, { signal }),
      // Long enough for the quick one on a busy machine; who never answers would hold the test for ever.
      { deadline: 15_000 },
    );
    assert.equal(more, []);
    assert.ok(first?.ok && first.value.answer.status === "completed");
    assert.equal([second?.agent, second?.ok, second?.ok === false && second.late], ["never", false, true]);
    const [broken] = await buyers.each(["quick"], () => Promise.reject(new Error("a bug")));
    assert.ok(broken !== undefined && !broken.ok && !broken.late && broken.error.message === "a bug");
    assert.is(await codeOf(() => buyers.each(["nobody"], async () => 1)), "buyer_option_invalid");
  } finally {
    await buyers.close();
    await quick.close();
    await never.close();
  }
});

test("agents of several sellers have a route of webhooks each: one that they would share is refused at once", async () => {
  const hooks = await setup();
  const pushed: unknown[] = [];
  const agent = await startAgent({
    answer: ({ tool, push }) => {
      if (tool === "get_agent_capabilities") return { payload: capabilities() };
      pushed.push(push?.url);
      return { payload: { status: "submitted", task_id: "task-1" } };
    },
  });
  const at = (place: string) => ({ receiver: hooks.receiver, url: `${PUBLIC_URL}/hooks/${place}` });
  const agents = { north: agent.mcp, south: { agent: { url: "http://127.0.0.1:9/mcp" } } };
  const shared = { release, allowLocal: true, webhooks: at("all") };
  assert.is(await codeOf(() => createBuyers({ ...shared, agents })), "buyer_option_invalid");
  await createBuyers({ ...shared, agents: { north: agent.mcp } }).close();
  // One seller that is called as two of its customers.
  await createBuyers({ ...shared, agents: { north: agent.mcp, south: { agent: { url: agent.mcp } } } }).close();
  // What is left undefined is not said: the place of all is that of this one, too.
  const unsaid = (url: string) => ({ agent: { url }, webhooks: undefined, auth: undefined }) as unknown as NamedAgent;
  const south = unsaid(agents.south.agent.url);
  assert.is(await codeOf(() => createBuyers({ ...shared, agents: { ...agents, south } })), "buyer_option_invalid");
  await createBuyers({ ...shared, webhooks: { ...at("all"), sender: SELLER }, agents }).close();
  const own = (place: string) => ({ agent: { url: agent.mcp }, webhooks: { ...at(place), sender: SELLER } });
  const buyers = createBuyers({ release, allowLocal: true, agents: { north: own("north"), south: own("south") } });
  try {
    const called = await buyers.each("all", (buyer) => buyer.call("create_media_buy", order));
    assert.equal(
      called.map((one) => one.ok && one.value.answer.status),
      ["submitted", "submitted"],
    );
    assert.equal(pushed.sort(), [at("north").url, at("south").url]);
    pushed.length = 0;
    const all = { ...shared, webhooks: { ...at("all"), sender: SELLER } };
    const one = createBuyers({ ...all, agents: { north: unsaid(agent.mcp) } });
    await one.of("north").call("create_media_buy", order);
    await one.close();
    assert.equal(pushed, [at("all").url], "the place that is given for all stays");
  } finally {
    await buyers.close();
    await agent.close();
    await hooks.close();
  }
});

test("a feature that is required is declared, or named as lacking", async () => {
  const made = await scene({
    declares: capabilities({
      specialisms: ["sales-guaranteed"],
      media_buy: { features: { inline: true, later: false } },
    }),
  });
  try {
    const declared = await made.buyer.requireFeature("specialisms.sales-guaranteed", "media_buy.features.inline");
    assert.equal(declared.specialisms, ["sales-guaranteed"]);
    const lacking = made.buyer.requireFeature("media_buy.features.inline", "media_buy.features.later", "signals");
    await lacking.then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, /media_buy\.features\.later, signals/),
    );
  } finally {
    await made.close();
  }
});

test.run();
