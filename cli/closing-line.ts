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

/** Prints it as the last line, and has the process end with exit code 1 when something failed, or nothing was judged. */
export function close(totals: Totals, unit?: string): void {
  console.log(closingLine(totals, unit));
  const { passed, failed, skipped = 0 } = totals;
  if (failed > 0 || passed + skipped === 0) process.exitCode = 1;
}
