/**
 * Development only: prints README's table of figures from bench/results.json, to be put in its place after a bench that
 * is to be published. `test/readme.test.ts` holds README to the same rows.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { FIGURES_HEAD, figureRows } from "../../bench/support/figures.js";
import type { Results } from "../../bench/support/report.js";

const file = path.resolve(import.meta.dirname, "../../bench/results.json");
console.log([FIGURES_HEAD, ...figureRows(JSON.parse(readFileSync(file, "utf8")) as Results)].join("\n"));
