/** A signal from its discovery to its activation. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { codeOf, openTestSeller } from "./caller.js";

const account = { brand: { domain: "buyer.example" }, operator: "agency.example" };
const destination = { type: "agent", agent_url: "https://sales.example" };

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

interface Found {
  signal_agent_segment_id: string;
  pricing_options: { pricing_option_id: string }[];
  deployments: { is_live: boolean }[];
}

const find = async (more = {}) =>
  ((await seller.read("get_signals", { account, signal_spec: "audience", ...more })) as { signals: Found[] }).signals;

test("what is activated is live for its account", async () => {
  const [signal] = await find({ destinations: [destination] });
  assert.ok(signal);
  assert.equal(signal.deployments[0]?.is_live, false);
  const { signal_agent_segment_id, pricing_options } = signal;
  const answer = await seller.call("activate_signal", {
    account,
    signal_agent_segment_id,
    pricing_option_id: pricing_options[0]?.pricing_option_id,
    destinations: [destination],
  });
  assert.equal((answer.deployments as { activation_key: object }[])[0]?.activation_key !== undefined, true);
  const [same] = await find({ destinations: [destination] });
  assert.equal(same?.deployments[0]?.is_live, true);
});

test("a signal that is not there cannot be activated", async () => {
  const wanted = { account, signal_agent_segment_id: "none", destinations: [destination] };
  assert.equal(codeOf(await seller.call("activate_signal", wanted)), "SIGNAL_NOT_FOUND");
});
