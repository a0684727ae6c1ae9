/** What can be told of a creative without looking at its pictures: put a model in its place where there is one. */
import type { JsonObject } from "../../contract/index.js";
import type { CreativeFeatures } from "./policy.js";

/** Deepest level of a manifest that is read: what lies deeper is no asset's. */
const DEPTH = 12;

/** Every text of a manifest, with the name of its field. */
function textsOf(value: unknown, name = "", depth = 0): readonly (readonly [name: string, text: string])[] {
  if (typeof value === "string") return [[name, value]];
  if (depth > DEPTH || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => textsOf(one, Array.isArray(value) ? name : key, depth + 1));
}

/** Fields whose text people read. */
const said = /^(content|text|headline|title|body|alt_text|caption|label)$/;

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

const MOST_WORDS = 10_000;

const measures: Readonly<Record<string, (manifest: JsonObject) => { value: boolean | number; unit?: string }>> = {
  secure_addresses: (manifest) => ({ value: textsOf(manifest).every(([, text]) => !/^http:/i.test(text)) }),
  images_described: ({ assets }) => ({
    value: Object.values((assets ?? {}) as Record<string, JsonObject>)
      .flat()
      .every(({ asset_type, alt_text }) => asset_type !== "image" || typeof alt_text === "string"),
  }),
  word_count: (manifest) => {
    const words = textsOf(manifest).reduce((sum, [name, text]) => sum + (said.test(name) ? wordsIn(text) : 0), 0);
    return { value: Math.min(words, MOST_WORDS), unit: "words" };
  },
};

export const plainCreativeFeatures: CreativeFeatures = {
  features: [
    { feature_id: "secure_addresses", type: "binary", description: "No address of the creative is plain http." },
    { feature_id: "images_described", type: "binary", description: "Every image has an alternative text." },
    {
      feature_id: "word_count",
      type: "quantitative",
      range: { min: 0, max: MOST_WORDS },
      description: "Words that people read.",
    },
  ],
  measure: async ({ manifest, featureIds }) =>
    featureIds.flatMap((feature_id) => {
      const measured = measures[feature_id]?.(manifest);
      return measured === undefined ? [] : [{ feature_id, ...measured, confidence: 1 }];
    }),
};
