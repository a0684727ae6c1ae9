/** How well a text answers a brief: by the words they share, short ones and plurals aside. */

/** Words every brief has. */
const common = new Set(
  "with from that this have will need only across inventory campaign budget flight adults premium programming content".split(
    " ",
  ),
);

/** Words that mean the same to who plans media. */
const synonyms: Readonly<Record<string, string>> = {
  olv: "video",
  preroll: "video",
  streaming: "ctv",
  connected: "ctv",
  television: "tv",
  broadcast: "tv",
  linear: "tv",
  banner: "display",
};

const stem = (word: string): string => {
  const one = word.replace(/ies$/, "y").replace(/s$/, "");
  return synonyms[one] ?? one;
};

/** The words of a text that say something, in their simplest form. */
export const briefWords = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => (word.length > 3 || ["ctv", "tv", "olv"].includes(word)) && !common.has(word))
      .map(stem),
  );

/** How many words of the brief the text has. */
export function relevance(brief: ReadonlySet<string>, text: string): number {
  const own = briefWords(text);
  return [...brief].filter((word) => own.has(word)).length;
}
