/** What makes creatives, which knobs it has, and what it costs. Asked at every call: an account sees what it may use. */
import { exampleTransformers, type TransformersPort } from "adbind/behaviours";

export const transformers: TransformersPort = {
  // What clients are tested with; put your own models, voices and prices in its place.
  ...exampleTransformers,
  // Your platform makes it here: once, under the key, however often it is asked.
  render: async (job, call) => exampleTransformers.render(job, call),
};
