/** Words of descriptions, so that what is wanted can be compared with what there is. */

/** Words too common to tell one signal from another. */
const noise = new Set(
  "a an and are as at by for from have in into is near of on or our that the their them to who with you your us".split(
    " ",
  ),
);

/** Word stems: plural and -ing forms of a word count as the word. */
export const stems = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 1 && !noise.has(word))
      .map((word) => (word.length > 4 ? word.replace(/(ies|ing|ers|er|es|s)$/, "") : word)),
  );
