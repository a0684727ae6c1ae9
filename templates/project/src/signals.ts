/** The signals you offer. Asked at every call. */
import { exampleSignals, type Signals, tellPlatform } from "adbind/behaviours";

/** Your platform's API, told what is brought where; without one nobody is told, and nothing has to be. */
const platform = process.env.SIGNALS_URL;

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
  activate: ({ segmentId }, place, call) =>
    tellPlatform(platform, "/activations", { signal_agent_segment_id: segmentId, ...place }, call),
  deactivate: ({ segmentId }, place, call) =>
    tellPlatform(platform, "/deactivations", { signal_agent_segment_id: segmentId, ...place }, call),
};
