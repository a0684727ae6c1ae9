/** `./run vectors`: every published vector of the corpus that adbind answers for, under its release's facts, with both words. */
import { willClose } from "../../cli/closing-line.js";
import { script } from "../../cli/script.js";
import { publishedGroups, words } from "./suites.js";

script("vectors", "every published vector of the corpus, under the facts of its release, with both words").parse();

const close = willClose("vectors");
const groups = await publishedGroups();
if (groups.length === 0) {
  console.log("skipped: there is no corpus; set ADBIND_CORPUS");
  close({ passed: 0, failed: 0, skipped: 1 });
} else {
  const totals = { passed: 0, failed: 0 };
  const rows = [["release", "suite", "group", ...words]];
  for (const { release, suite, group, cases } of groups) {
    const row = [release, suite, group];
    for (const word of words) {
      let passed = 0;
      for (const one of cases) {
        const fault = await one.run(word);
        if (fault === undefined) passed++;
        else console.error(`${release} ${suite} ${group} ${one.name} (${word}): ${fault}`);
      }
      totals.passed += passed;
      totals.failed += cases.length - passed;
      row.push(`${passed}/${cases.length}`);
    }
    rows.push(row);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
  close(totals);
}
