/** The demo's account of itself: a line for each thing that happened, and the totals at the end. */
export class Timeline {
  readonly #started = performance.now();

  constructor(public print: (line: string) => void) {}

  /** @param verdict what came of it; left out where it speaks for itself */
  say(who: string, what: string, verdict = ""): void {
    const at = ((performance.now() - this.#started) / 1000).toFixed(1).padStart(5);
    this.print(`   ${at} s  ${who.padEnd(10)} ${what}${verdict === "" ? "" : `  -> ${verdict}`}`);
  }

  table(rows: readonly (readonly [string, string | number])[]): void {
    const width = Math.max(...rows.map(([name]) => name.length));
    for (const [name, value] of rows) this.print(`   ${name.padEnd(width)}  ${value}`);
  }
}
