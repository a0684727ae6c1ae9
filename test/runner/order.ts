/** Which test files start first: the slow ones, so that all workers have something to do to the end. */

/** Slowest first. A file that is not here is quick; one that is gone does no harm. */
const SLOW: readonly string[] = ["types"];

/** @returns them with the slow ones in front, the others as they stood */
export const slowFirst = <T extends { readonly name: string }>(jobs: readonly T[]): T[] => {
  const rank = ({ name }: T): number => (SLOW.includes(name) ? SLOW.indexOf(name) : SLOW.length);
  return [...jobs].sort((a, b) => rank(a) - rank(b));
};
