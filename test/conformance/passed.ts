/** How many steps a run has passed before: a committed number of each, which only grows. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const place = path.resolve(import.meta.dirname, "passed.json");

/** Steps passed, by release and specialism. */
type Passed = Readonly<Record<string, Readonly<Record<string, number>>>>;

const committed = (): Passed => JSON.parse(readFileSync(place, "utf8")) as Passed;

const sorted = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Holds a run to what was committed of it; with ADBIND_UPDATE_GOLDEN a number that has grown is written.
 * @returns what is wrong, undefined where nothing is
 */
export function heldToPassed(release: string, specialism: string, passed: number): string | undefined {
  const all = committed();
  const before = all[release]?.[specialism];
  if (before !== undefined && passed < before)
    return `${passed} steps passed where ${before} have before (test/conformance/passed.json)`;
  if (passed === before) return undefined;
  if (process.env.ADBIND_UPDATE_GOLDEN !== undefined) {
    const grown = sorted({ ...all, [release]: sorted({ ...all[release], [specialism]: passed }) });
    writeFileSync(place, `${JSON.stringify(grown, null, 2)}\n`);
  } else console.log(`  more passed than ${before ?? 0} before; ADBIND_UPDATE_GOLDEN=1 writes it down`);
  return undefined;
}
