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

/**
 * The rows, in the order of docs/figures.md.
 * @throws Error when the results hold a bench that has no place in the order
 */
export function figureRows(results: Results): string[] {
  const unplaced = Object.keys(results).filter((name) => !ORDER.includes(name));
  if (unplaced.length > 0) throw new Error(`bench/support/figures.ts gives no place to ${unplaced.join(", ")}`);
  return ORDER.flatMap((name) => results[name]?.rows ?? [])
    .filter(isShown)
    .map((row) => `| ${row.name} | ${Number(row.value.toPrecision(3))} ${row.unit} | ${wanted(row)} |`);
}

export const FIGURES_HEAD = "| figure | here | wanted |\n|---|---|---|";
