/** Tells who waits for a long bench how far it is. */

/**
 * A part of a bench that tells on stderr, where figures do not go, what it has come to, each time with the seconds since the
 * part began.
 */
export function progressOf(part: string): (what: string) => void {
  const begun = performance.now();
  return (what) => console.error(`${part} ${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s: ${what}`);
}
