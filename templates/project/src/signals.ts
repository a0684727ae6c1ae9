/** The signals you offer. Asked at every call. */
import { exampleSignals, type Signals } from "adbind/behaviours";

export const signals: Signals = {
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
  async activate() {},
  async deactivate() {},
};
