/**
 * Development only: writes the misses and the table of docs/figures.md from bench/results.json, after a bench that is to be published.
 * `test/readme.test.ts` holds the page to the same rows.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { FIGURES_BEGIN, figureLines } from "../../bench/support/figures.js";
import type { Results } from "../../bench/support/report.js";

const root = path.resolve(import.meta.dirname, "../..");
const page = path.join(root, "docs/figures.md");
const results = JSON.parse(readFileSync(path.join(root, "bench/results.json"), "utf8")) as Results;
const [said = ""] = readFileSync(page, "utf8").split(FIGURES_BEGIN);
writeFileSync(page, `${said}${FIGURES_BEGIN}${figureLines(results).join("\n")}\n`);
