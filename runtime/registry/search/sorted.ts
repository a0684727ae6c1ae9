/** Arrays that are in order. */

/** An array without the elements at some places, which are in order. */
export function without(array: Uint32Array, places: Uint32Array): Uint32Array {
  if (places.length === 0) return array;
  const rest = new Uint32Array(array.length - places.length);
  let from = 0;
  let at = 0;
  for (const place of places) {
    rest.set(array.subarray(from, place), at);
    at += place - from;
    from = place + 1;
  }
  rest.set(array.subarray(from), at);
  return rest;
}

/** First index from `low` on whose element passes; those that pass come after those that do not. */
export function firstIndex(array: Uint32Array, low: number, passes: (element: number) => boolean): number {
  let high = array.length;
  let from = low;
  while (from < high) {
    const middle = (from + high) >>> 1;
    if (passes(array[middle]!)) high = middle;
    else from = middle + 1;
  }
  return from;
}
