/** Sentences with which a release demands something in words: MUST and SHALL of its descriptions. */
import { eachConditional, eachInside, type Shape } from "../model/shape.js";

const DEMAND = /\b(MUST|SHALL)\b/;

/** Where a sentence ends: a full stop and what begins a new one. */
const BETWEEN = /(?<=[.!?][)"'`*]*)\s+(?=[A-Z`"(*])/;

const plain = (text: string, version: string): string =>
  text.replaceAll(version, "<version>").replace(/\s+/g, " ").trim();

/** Descriptions of a shape and of all inside it; what it refers to has its own. */
function* descriptionsOf(shape: Shape): Generator<string> {
  if (shape.description !== undefined) yield shape.description;
  const inner: Shape[] = [];
  eachInside(shape, (one) => inner.push(one));
  eachConditional(shape, (one) => inner.push(one));
  for (const one of inner) yield* descriptionsOf(one);
}

/**
 * @param version of the release, which no sentence differs by
 * @returns each sentence once, in the order of the file
 */
export function normativeIn(shape: Shape, version: string): string[] {
  const found = new Set<string>();
  for (const description of descriptionsOf(shape)) {
    if (!DEMAND.test(description)) continue;
    for (const sentence of description.split(BETWEEN)) if (DEMAND.test(sentence)) found.add(plain(sentence, version));
  }
  return [...found];
}

export interface SentenceChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** What a sentence said before and says now. */
  readonly altered: readonly (readonly [before: string, now: string])[];
}

/** Share of words that two sentences have in common, from which one is taken for the other altered. */
const ALIKE = 0.55;

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\d_.]+/gu) ?? []);

function likeness(a: string, b: string): number {
  const [one, two] = [wordsOf(a), wordsOf(b)];
  const common = [...one].filter((word) => two.has(word)).length;
  return one.size + two.size === 0 ? 1 : (2 * common) / (one.size + two.size);
}

/** What became of the sentences of a file: the likest pairs are one sentence altered. */
export function compareSentences(before: readonly string[], now: readonly string[]): SentenceChange {
  const gone = before.filter((one) => !now.includes(one));
  const fresh = now.filter((one) => !before.includes(one));
  const ranked = gone
    .flatMap((one) => fresh.map((two) => ({ one, two, score: likeness(one, two) })))
    .filter(({ score }) => score >= ALIKE)
    .sort((x, y) => y.score - x.score);
  const altered = new Map<string, string>();
  const taken = new Set<string>();
  for (const { one, two } of ranked) {
    if (altered.has(one) || taken.has(two)) continue;
    altered.set(one, two);
    taken.add(two);
  }
  return {
    added: fresh.filter((two) => !taken.has(two)),
    removed: gone.filter((one) => !altered.has(one)),
    altered: [...altered],
  };
}
