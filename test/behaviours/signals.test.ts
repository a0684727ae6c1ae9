/** Signals: found by words, activated, and not without the plan's leave. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listedSignals, type Signal } from "../../runtime/behaviours/index.js";
import { describedBy, passesFilter } from "../../runtime/behaviours/signals/match.js";
import { behavingSeller, key, type TestSeller, versions } from "./behaving-seller.js";

/** One of them; which it is differs from run to run. */
const [version = "3.2.4"] = versions;

const account = (domain = "acmeoutdoor.example") => ({
  account: { brand: { domain }, operator: "pinnacle.example" },
});

const test = suite<{ own: TestSeller }>("signals");
test.before(async (context) => {
  context.own = await behavingSeller(version, ["signal_marketplace"]);
});
test.after(({ own }) => own.close());

const signal = (segmentId: string, more: Partial<Signal> = {}): Signal => ({
  segmentId,
  name: segmentId,
  description: "",
  provider: "Somebody",
  origin: { catalog: "owned", id: segmentId },
  value: { type: "binary" },
  coverage: 10,
  pricing: [{ pricing_option_id: "p", model: "cpm", cpm: 4, currency: "USD" }],
  ...more,
});

test("the signal that answers most words comes first, and one that answers none does not come", () => {
  const all = [
    signal("a", { description: "people who buy cars" }),
    signal("b", { description: "buyers of electric cars, by dealership visits" }),
    signal("c", { description: "readers of news" }),
  ];
  assert.equal(
    describedBy(all, "Electric car buyers near dealerships").map(({ segmentId }) => segmentId),
    ["b", "a"],
  );
});

test("a price limit is on its own model, and one option within it is enough", () => {
  const flat = signal("flat", {
    pricing: [{ pricing_option_id: "f", model: "flat_fee", amount: 5_000, period: "monthly", currency: "USD" }],
  });
  assert.ok(passesFilter(flat, { max_cpm: 1 }));
  assert.not.ok(passesFilter(signal("dear"), { max_cpm: 3 }));
  assert.ok(passesFilter(signal("fair"), { max_cpm: 4 }));
  assert.not.ok(passesFilter(signal("abroad", { countries: ["US"] }), {}, ["US", "NL"]));
});

test("pages cover what was found, without repeats", async ({ own }) => {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await own.ask("get_signals", {
      signal_spec: "audience",
      pagination: { max_results: 2, ...(cursor !== undefined && { cursor }) },
    });
    seen.push(...page.signals.map((one: { signal_agent_segment_id: string }) => one.signal_agent_segment_id));
    cursor = page.pagination.cursor;
  } while (cursor !== undefined);
  const whole = await own.ask("get_signals", { signal_spec: "audience" });
  assert.equal(seen.length, whole.signals.length);
  assert.is(new Set(seen).size, seen.length);
});

test("an activation is shown to its account alone, once, and can be taken back", async ({ own }) => {
  const destination = { type: "platform", platform: "dsp", account: "seat" };
  const wanted = {
    ...account(),
    signal_agent_segment_id: "prism_high_ltv",
    pricing_option_id: "po_prism_flat_monthly",
    destinations: [destination],
  };
  const { deployments } = await own.ask("activate_signal", { ...wanted, ...key() });
  assert.is(deployments[0].activation_key.type, "segment_id");
  const again = await own.ask("activate_signal", { ...wanted, ...key() });
  assert.equal(again.deployments, deployments);
  const live = async (domain: string): Promise<boolean> => {
    const ids = [{ source: "agent", agent_url: "https://seller.example/mcp", id: "high_ltv" }];
    const found = await own.ask("get_signals", { ...account(domain), signal_ids: ids, destinations: [destination] });
    return found.signals[0].deployments[0].is_live;
  };
  assert.ok(await live("acmeoutdoor.example"));
  assert.not.ok(await live("novamotors.example"));
  await own.ask("activate_signal", { ...wanted, action: "deactivate", ...key() });
  assert.not.ok(await live("acmeoutdoor.example"));
});

test("what is not there is refused", async ({ own }) => {
  const wanted = {
    ...account(),
    signal_agent_segment_id: "prism_high_ltv",
    destinations: [{ type: "agent", agent_url: "https://agent.example" }],
  };
  const missing = await own.refused("activate_signal", { ...wanted, signal_agent_segment_id: "none", ...key() });
  assert.is(missing.field, "signal_agent_segment_id");
  const price = await own.refused("activate_signal", { ...wanted, pricing_option_id: "none", ...key() });
  assert.is(price.field, "pricing_option_id");
});

test("money of a governed account is spent on its agent's word, and not against a plan that is kept here", async ({
  own,
}) => {
  const governed = await behavingSeller(version, ["signal_marketplace", "governance_spend_authority"]);
  const flat = (more: object = {}) => ({
    ...account(),
    ...key(),
    signal_agent_segment_id: "prism_high_ltv",
    pricing_option_id: "po_prism_flat_monthly",
    destinations: [{ type: "platform", platform: "dsp", account: "seat" }],
    ...more,
  });
  const governance_agents = [
    { url: "https://gov.example", authentication: { schemes: ["Bearer"], credentials: "x".repeat(40) } },
  ];
  const accounts = [{ ...account(), governance_agents }];
  for (const one of [own, governed]) {
    await one.ask("sync_governance", { ...key(), accounts });
    const silent = await one.refused("activate_signal", flat());
    assert.equal([silent.code, silent.field], ["PERMISSION_DENIED", "governance_context"]);
    await one.ask("activate_signal", flat({ action: "deactivate" }));
  }
  // Somebody else's plan: the word is his.
  await own.ask("activate_signal", flat({ governance_context: "a.word.signed" }));
  const plan = (plan_id: string, total: number) => ({
    ...{ plan_id, brand: { domain: "acmeoutdoor.example" }, objectives: "Audiences" },
    budget: { total, currency: "USD", reallocation_threshold: total },
    flight: { start: "2020-01-01T00:00:00Z", end: "2099-01-01T00:00:00Z" },
  });
  await governed.ask("sync_plans", { ...key(), plans: [plan("small", 10)] });
  const against = await governed.refused("activate_signal", flat({ governance_context: "a.word.signed" }));
  assert.is(against.code, "GOVERNANCE_DENIED");
  const unpriced = flat({ governance_context: "a.word.signed", pricing_option_id: undefined });
  const unsaid = await governed.refused("activate_signal", unpriced);
  assert.is(unsaid.code, "GOVERNANCE_DENIED", "it costs what it costs, whether or not its buyer says so");
  await governed.ask("sync_plans", { ...key(), plans: [plan("large", 1_000_000)] });
  await governed.ask("activate_signal", flat({ governance_context: "a.word.signed" }));
  await governed.close();
});

test("of several prices the buyer names the one that is paid, and who takes a signal away names none", async () => {
  const { pricing } = signal("both");
  const flat = { pricing_option_id: "f", model: "flat_fee", amount: 50, period: "monthly", currency: "USD" } as const;
  const brought: string[] = [];
  const signals = {
    ...listedSignals([signal("both", { pricing: [pricing[0], flat] })]),
    activate: async ({ segmentId }: Signal) => void brought.push(segmentId),
  };
  const { ask, refused, close } = await behavingSeller(version, ["signal_marketplace"], { ports: { signals } });
  const destinations = [{ type: "platform", platform: "dsp", account: "seat" }];
  const wanted = (more: object = {}) => ({
    ...{ ...account(), ...key(), signal_agent_segment_id: "both", destinations },
    ...more,
  });
  const { code, field } = await refused("activate_signal", wanted());
  assert.equal([code, field, brought], ["INVALID_REQUEST", "pricing_option_id", []]);
  await ask("activate_signal", wanted({ pricing_option_id: "f" }));
  const { deployments } = await ask("activate_signal", wanted({ action: "deactivate" }));
  assert.equal([brought, deployments[0].is_live], [["both"], false]);
  await close();
});

if (versions.length > 0) test.run();
