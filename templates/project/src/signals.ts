/** The signals you offer. Asked at every call. */
import { exampleSignals, type Signals } from "adbind/behaviours";

/** Your platform's API, told what is brought where; without one nobody is told, and nothing has to be. */
const platform = process.env.SIGNALS_URL;

async function tell(path: string, idempotencyKey: string, body: object): Promise<void> {
  if (platform === undefined) return;
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const answer = await fetch(`${platform}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
}

export const signals: Signals = {
  ...(platform !== undefined && { upstream: true }),
  async signals() {
    return [
      {
        segmentId: "high_ltv",
        name: "High LTV customers",
        description: "Audience of high-value customers by lifetime purchase value, from the loyalty program.",
        provider: "Example Data",
        origin: { catalog: "owned", id: "high_ltv" },
        value: { type: "binary" },
        coverage: 12,
        pricing: [{ pricing_option_id: "cpm", model: "cpm", cpm: 4, currency: "USD" }],
      },
      // What clients are tested with; leave it out when yours is complete.
      ...exampleSignals,
    ];
  },
  // Brings a signal to a platform or an agent; at least once with the same key.
  activate: ({ segmentId }, place, { idempotencyKey }) =>
    tell("/activations", idempotencyKey, { signal_agent_segment_id: segmentId, ...place }),
  deactivate: ({ segmentId }, place, { idempotencyKey }) =>
    tell("/deactivations", idempotencyKey, { signal_agent_segment_id: segmentId, ...place }),
};
