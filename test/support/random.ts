/** Numbers that look random, and are the same for the same seed. */

/** At least 0, less than 1 (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Choices {
  chance(part: number): boolean;
  of<T>(list: readonly T[]): T;
}

export function choices(seed: number): Choices {
  const next = numbers(seed);
  return { chance: (part) => next() < part, of: (list) => list[Math.floor(next() * list.length)]! };
}
