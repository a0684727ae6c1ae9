/** The fragment of a heading as GitHub makes it; the docs site makes the same, so that a comment's pointer holds in both. */
export const fragmentOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
