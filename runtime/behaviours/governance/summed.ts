/** Below this a number holds a sum to the millionth. */
const FINE = 1e9;
/** Below this it holds it to the cent; above nothing is rounded. */
const COARSE = 9e13;

/** A sum of money without the dust of binary fractions: of 900.9 less 600.6, all of 300.3 is left. */
export function summed(amounts: readonly number[]): number {
  const sum = amounts.reduce((all, one) => all + one, 0);
  const size = Math.abs(sum);
  if (size >= COARSE) return sum;
  const parts = size < FINE ? 1_000_000 : 100;
  return Math.round(sum * parts) / parts;
}
