/** The last line of every command that judges something: what it counted, by which one sees whether all is well. */

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
  /** Failures that are explained, and do not count as such. */
  readonly known?: number;
}

/**
 * @param unit what is counted, e.g. `steps`; without one the line has none
 * @returns `unit: N passed, N failed`, and `, N skipped` or `, N known` where some were
 */
export function closingLine({ passed, failed, skipped = 0, known = 0 }: Totals, unit?: string): string {
  const of = unit === undefined ? "" : `${unit}: `;
  const more = `${skipped > 0 ? `, ${skipped} skipped` : ""}${known > 0 ? `, ${known} known` : ""}`;
  return `${of}${passed} passed, ${failed} failed${more}`;
}

/** Prints the last line. @param line instead of what `closingLine` makes of the totals */
export type Close = (totals: Totals, line?: string) => void;

/**
 * For a command that judges something, once it knows what it is asked for: its last line is printed as it ends, also where it
 * throws, so that nobody takes half a run for a whole one. Exit code 1 says that something failed, or that nothing was judged;
 * a command that was asked wrongly exits with 2, and has judged nothing.
 * @param unit as of `closingLine`
 */
export function willClose(unit?: string): Close {
  let closed = false;
  const close: Close = (totals, line = closingLine(totals, unit)) => {
    closed = true;
    console.log(line);
    const { passed, failed, skipped = 0 } = totals;
    if (failed > 0 || passed + skipped === 0) process.exitCode = 1;
  };
  process.once("exit", (code) => {
    if (!closed && code !== 2) close({ passed: 0, failed: 1 });
  });
  return close;
}
