/** README is short and leads on, and the figures are the bench's; `docs.test.ts` holds the rest. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { FIGURES_BEGIN, figureLines } from "../bench/support/figures.js";
import type { Results } from "../bench/support/report.js";

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

test("README is read at one sitting", () => {
  const lines = read("README.md").split("\n").length - 1;
  assert.ok(lines < 120, `${lines} lines: what is more belongs into docs/`);
});

test("README leads to every guide, and to the reference and the protocol", () => {
  const readme = read("README.md");
  // Found from those it leads to.
  const further = ["registry-configuration.md", "migrations.md", "releasing.md", "index.md"];
  const guides = globSync("*.md", { cwd: path.join(root, "docs") }).filter((page) => !further.includes(page));
  const absent = [...guides, "reference/index.md", "protocol/index.md"].filter(
    (page) => !readme.includes(`(docs/${page}`),
  );
  assert.equal(absent, []);
});

test("docs/figures.md has the figures of bench/results.json, every one of them", () => {
  const results = JSON.parse(read("bench/results.json")) as Results;
  const page = read("docs/figures.md");
  const shown = page
    .slice(page.indexOf(FIGURES_BEGIN) + FIGURES_BEGIN.length)
    .trimEnd()
    .split("\n");
  assert.ok(shown.length > 9);
  // Who sees this fail: `./run figures` writes them.
  assert.equal(shown, figureLines(results));
});

test("a figure says what was wanted of it, and whether that was missed", () => {
  const machine = { cpu: "x", cores: 1, node: "v24", date: "2026-01-02", load: 0 };
  const row = (name: string, value: number, target?: { max?: number; min?: number }) => ({
    ...{ name, value, unit: "ms" },
    ...(target && { target }),
  });
  const results = {
    seller: { machine, rows: [row("late", 20.49, { max: 20 })] },
    signing: { machine, rows: [row("raw, one verification", 104), row("told", 0.123456), row("kept", 2, { min: 2 })] },
  };
  assert.equal(figureLines(results), [
    "Measured: signing 2026-01-02, seller 2026-01-02. Of 2 bounds 1 are missed:",
    "",
    "- late: 20.5 ms, wanted at most 20",
    "",
    "| figure | here | wanted |",
    "|---|---|---|",
    "| told | 0.123 ms |  |",
    "| kept | 2 ms | at least 2 |",
    "| late | 20.5 ms | at most 20 (missed) |",
  ]);
  assert.throws(() => figureLines({ novel: { machine, rows: [] } }), /no place to novel/);
});

test.run();
