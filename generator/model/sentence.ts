/** What a description says first. */

/** Doc policy: the first sentence, on one line; the rest is in the schema. */
export const firstSentence = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  const end = line.match(/^.*?[^.\s](?<!\b(?:e\.g|i\.e|etc|vs|cf|incl|approx))[.!?](?=\s+[A-Z`"'([]|$)/);
  return end === null ? line : end[0];
};
