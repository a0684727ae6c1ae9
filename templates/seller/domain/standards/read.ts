/**
 * Reads content policies written in words, sentence by sentence. It knows prohibitions and a few requirements; what it
 * cannot read or measure it calls unevaluated. Put a classifier in its place where there is one.
 */

/** What one sentence of a policy asks. */
export type Check =
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

export const words = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** `photo` is found by `photography`: the shorter word begins the longer one. */
const SHORTEST_STEM = 5;

export const alike = (a: string, b: string): boolean => {
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
    .map((term) => words(term).filter((word) => !generic.has(word)))
    .filter((term) => term.length > 0);
  return terms.length > 0 ? { kind: "prohibits", terms } : { kind: "unread" };
}

export const readContentPolicy = (policy: string): Check[] =>
  policy
    .split(/(?<=[.!;])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/[.!;]+$/, ""))
    .filter((sentence) => sentence !== "")
    .map(readSentence);
