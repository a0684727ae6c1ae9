/** bench/results.json -> the rows of docs/figures.md: what writes them and what checks them share this. */
import type { Results } from "./report.js";
import { type Row, verdictOf } from "./row.js";

/** From what is built once to what runs all the time. */
const ORDER = ["generate", "explorer", "diff", "signing", "receiver", "sender", "plan", "registry", "seller", "buyer"];

/** Times of one operation depend on the processor alone; docs/figures.md shows their ratio to the floor. */
const isShown = ({ name }: Row): boolean => !name.includes("one verification");

const wanted = (row: Row): string => {
  const { target } = row;
  const bounds = [
    ...(target?.max === undefined ? [] : [`at most ${target.max}`]),
    ...(target?.min === undefined ? [] : [`at least ${target.min}`]),
  ];
  return `${bounds.join(", ")}${verdictOf(row) === "missed" ? " (missed)" : ""}`;
};

const amountOf = (row: Row): string => `${Number(row.value.toPrecision(3))} ${row.unit}`;

/** What was missed, and when each was measured. */
function summary(results: Results, shown: readonly Row[]): string[] {
  const missed = shown.filter((row) => verdictOf(row) === "missed");
  const bound = shown.filter(({ target }) => target !== undefined).length;
  const told = missed.map((row) => `- ${row.name}: ${amountOf(row)}, wanted ${wanted(row).replace(" (missed)", "")}`);
  const days = ORDER.flatMap((name) => (results[name] === undefined ? [] : [`${name} ${results[name].machine.date}`]));
  return [`Measured: ${days.join(", ")}. Of ${bound} bounds ${missed.length} are missed:`, "", ...told];
}

/**
 * What `docs/figures.md` has below its own words: the misses, then the rows in its order.
 * @throws Error when the results hold a bench that has no place in the order
 */
export function figureLines(results: Results): string[] {
  const unplaced = Object.keys(results).filter((name) => !ORDER.includes(name));
  if (unplaced.length > 0) throw new Error(`bench/support/figures.ts gives no place to ${unplaced.join(", ")}`);
  const shown = ORDER.flatMap((name) => results[name]?.rows ?? []).filter(isShown);
  const rows = shown.map((row) => `| ${row.name} | ${amountOf(row)} | ${wanted(row)} |`);
  return [...summary(results, shown), "", "| figure | here | wanted |", "|---|---|---|", ...rows];
}

/** Stands before them. */
export const FIGURES_BEGIN = "<!-- from bench/results.json, by ./run figures -->\n";
