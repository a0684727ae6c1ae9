/** Signals of the reference seller: found by words, activated, and not without the plan's leave. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { describedBy, passes, type Signal } from "../../templates/seller/domain/signals/catalog.js";
import { account, key, type TemplateSeller, templateSeller } from "./template-seller.js";

const test = suite<{ own: TemplateSeller }>("reference seller: signals");
test.before.each(async (context) => {
  context.own = await templateSeller();
});
test.after.each(({ own }) => own.close());

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
  assert.ok(passes(flat, { max_cpm: 1 }));
  assert.not.ok(passes(signal("dear"), { max_cpm: 3 }));
  assert.ok(passes(signal("fair"), { max_cpm: 4 }));
  assert.not.ok(passes(signal("abroad", { countries: ["US"] }), {}, ["US", "NL"]));
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
    const ids = [{ source: "agent", agent_url: "http://127.0.0.1:3000/mcp", id: "high_ltv" }];
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
  assert.is(missing.code, "SIGNAL_NOT_FOUND");
  const price = await own.refused("activate_signal", { ...wanted, pricing_option_id: "none", ...key() });
  assert.is(price.field, "pricing_option_id");
});

test.run();
