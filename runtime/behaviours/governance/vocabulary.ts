/** Words that arguments have: what is written about is looked for in them. */
import { isJsonObject } from "../../contract/index.js";

/** Deepest level of arguments that is read: what lies deeper is no campaign's. */
const DEPTH = 12;

function collectWords(value: unknown, into: Set<string>, depth = 0): void {
  if (depth > DEPTH) return;
  if (typeof value === "string") for (const word of value.toLowerCase().split(/[^\p{L}\p{N}]+/u)) into.add(word);
  else if (Array.isArray(value)) for (const item of value) collectWords(item, into, depth + 1);
  else if (isJsonObject(value)) for (const item of Object.values(value)) collectWords(item, into, depth + 1);
}

/** Lower case, without the names of fields. */
export const wordsWithin = (value: unknown): Set<string> => {
  const words = new Set<string>();
  collectWords(value, words);
  return words;
};

/** @param term words with _ between them */
export const mentions = (words: ReadonlySet<string>, term: string): boolean =>
  term.split("_").every((part) => words.has(part));
