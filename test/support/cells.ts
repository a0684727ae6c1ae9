/**
 * Cells of the long judges: a whole judge is a command, and `./run test` takes a few of its cells. The commit chooses
 * them, so that another run of the same commit judges the same, and many commits judge all.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import path from "node:path";

/** What chooses instead of the commit: any text, or `all` for every cell. */
export const CHOICE = "ADBIND_CELLS";

/** @returns what chooses: the environment's word, or the commit; the same text for a checkout without git */
export function choice(): string {
  const given = process.env[CHOICE];
  if (given !== undefined && given !== "") return given;
  try {
    const options = { cwd: path.resolve(import.meta.dirname, "../.."), encoding: "utf8", stdio: "pipe" } as const;
    return execFileSync("git", ["rev-parse", "HEAD"], options).trim();
  } catch {
    return "no commit";
  }
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
/** Digits of a hash that are a number of 32 bits. */
const SEED_DIGITS = 8;

/** @returns what random steps begin with: the same for the same commit, so that a run of it says what another says */
export const seedOf = (judge: string): number =>
  Number.parseInt(hashOf(`${choice()}\0${judge}`).slice(0, SEED_DIGITS), 16);

/** @returns the cells in the order of a hash of their names and of what chooses */
export function inTurn<Name extends string>(by: string, cells: readonly Name[]): Name[] {
  const hash = (cell: string): string => hashOf(`${by}\0${cell}`);
  return [...cells].sort((a, b) => (hash(a) < hash(b) ? -1 : 1));
}

/** @returns the cells whose turn is first, as they stood */
export function choose<Name extends string>(by: string, cells: readonly Name[], take: number): Name[] {
  const chosen = new Set(inTurn(by, cells).slice(0, take));
  return cells.filter((cell) => chosen.has(cell));
}

/**
 * A few of a judge's cells, told in a line that the runner repeats.
 * @param judge what runs them all, e.g. `./run judge mutants`
 * @param cells names, each its own
 * @param take how many
 */
export function cellsOf<Name extends string>(judge: string, cells: readonly Name[], take: number): Name[] {
  const by = choice();
  if (by === "all") return [...cells];
  const taken = choose(`${by}\0${judge}`, cells, take);
  console.log(`cells: ${taken.length} of ${cells.length}: ${taken.join("; ")}  (all: ${judge})`);
  return taken;
}
