/**
 * Reads content policies written in words, sentence by sentence. It knows prohibitions and a few requirements; what it
 * cannot read or measure it calls unevaluated. The same content and the same policy get the same verdict.
 */

import type { JsonObject } from "../../contract/index.js";
import { plainCreativeFeatures } from "./plain-creatives.js";
import { spendingRule } from "./plan-policies.js";
import type { ContentArtifact, ContentFinding, PolicyPort } from "./policy.js";

/** What one sentence of a policy asks. */
type Check =
  /** Any of these, each by all of its words. */
  | { readonly kind: "prohibits"; readonly terms: readonly (readonly string[])[] }
  | { readonly kind: "alt_text" }
  | { readonly kind: "min_dpi"; readonly dpi: number }
  | { readonly kind: "unread" };

/** Words that say that something is shown, not what. */
const generic = new Set(
  "imagery images image content contents ads advertising advertisements asset assets media material product products any".split(
    " ",
  ),
);

const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** `photo` is found by `photography`: the shorter word begins the longer one. */
const SHORTEST_STEM = 5;

const alike = (a: string, b: string): boolean => {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short === long || (short.length >= SHORTEST_STEM && long.startsWith(short));
};

const prohibition =
  /^(?:no|never|avoid|exclude|must not (?:contain|show|include)|do not (?:contain|show|include|use))\s+(.+)$/i;

function readSentence(sentence: string): Check {
  const dpi = /\b(\d+)\s*dpi\b/i.exec(sentence)?.[1];
  if (dpi !== undefined) return { kind: "min_dpi", dpi: Number(dpi) };
  if (/\balt(?:ernative)?[ -]texts?\b/i.test(sentence)) return { kind: "alt_text" };
  const forbidden = prohibition.exec(sentence)?.[1];
  if (forbidden === undefined) return { kind: "unread" };
  const terms = forbidden
    .split(/,|\bor\b|\band\b/i)
    .map((term) => wordsIn(term).filter((word) => !generic.has(word)))
    .filter((term) => term.length > 0);
  return terms.length > 0 ? { kind: "prohibits", terms } : { kind: "unread" };
}

const checksIn = (policy: string): Check[] =>
  policy
    .split(/(?<=[.!;])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/[.!;]+$/, ""))
    .filter((sentence) => sentence !== "")
    .map(readSentence);

/** Deepest level of content that is read: what lies deeper is nobody's text. */
const DEPTH = 8;

/** Everything an artifact says, its names and addresses included; not the credentials to fetch it. */
function saidIn(value: unknown, depth = 0): string[] {
  if (depth > DEPTH) return [];
  if (typeof value === "string") return wordsIn(value);
  if (Array.isArray(value)) return value.flatMap((item) => saidIn(item, depth + 1));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === "access" ? [] : saidIn(item, depth + 1)));
}

const imagesOf = ({ assets }: ContentArtifact): readonly JsonObject[] => assets.filter(({ type }) => type === "image");

/** What the check comes to, and why; nothing said where it is met. */
function run(check: Check, artifact: ContentArtifact, said: readonly string[]): ContentFinding {
  switch (check.kind) {
    case "prohibits": {
      const found = check.terms.find((term) => term.every((word) => said.some((own) => alike(word, own))));
      return found === undefined
        ? { status: "passed" }
        : { status: "failed", explanation: `The content shows or names: ${found.join(" ")}.` };
    }
    case "alt_text": {
      const without = imagesOf(artifact).some(({ alt_text: text }) => typeof text !== "string" || text.trim() === "");
      return without ? { status: "failed", explanation: "An image has no alternative text." } : { status: "passed" };
    }
    case "min_dpi": {
      const known = imagesOf(artifact).map(({ dpi }) => dpi);
      if (known.some((dpi) => typeof dpi === "number" && dpi < check.dpi))
        return { status: "failed", explanation: "An image is below the resolution asked for." };
      return { status: known.every((dpi) => typeof dpi === "number") ? "passed" : "unevaluated" };
    }
    case "unread":
      return { status: "unevaluated", explanation: "The policy is for a person to judge." };
  }
}

const worst = ["failed", "unevaluated", "passed"] as const;

/** A reader of plain sentences: give a model or a person in its place where there is one. */
export const plainPolicies: PolicyPort = {
  async content({ policy, artifact }) {
    const said = saidIn(artifact);
    const results = checksIn(policy.policy).map((check) => run(check, artifact, said));
    const status = worst.find((one) => results.some((result) => result.status === one)) ?? "unevaluated";
    const why = results.filter((result) => result.status === status).flatMap(({ explanation }) => explanation ?? []);
    return {
      status,
      ...(why.length > 0 && { explanation: why.join(" ") }),
      confidence: status === "unevaluated" ? 0 : 0.9,
    };
  },
  spending: async (policy) => spendingRule(policy),
  creatives: plainCreativeFeatures,
};
