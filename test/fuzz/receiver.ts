/** `./run fuzz receiver [--count N] [--seed N]`: mutated requests, counted by what they were answered. */
import { willClose } from "../../cli/closing-line.js";
import { count, script } from "../../cli/script.js";
import { type Report, runFuzz } from "./receiver-run.js";

const values = script("fuzz receiver", "mutated requests, counted by what they were answered")
  .option("--count <n>", "requests", count, 20_000)
  .option("--seed <n>", "of the mutations; the same gives the same", count, Date.now() % 2 ** 31)
  .parse()
  .opts<{ readonly count: number; readonly seed: number }>();
const close = willClose("requests");
const { seed } = values;
console.log(`seed ${seed}`);
tell(await runFuzz(values.count, seed));

function tell(report: Report): void {
  for (const [status, answered] of Object.entries(report.statuses).sort((a, b) => b[1] - a[1])) {
    console.log(`${String(answered).padStart(9)}  ${status}`);
  }
  console.log(
    `${report.count} requests in ${report.seconds.toFixed(0)} s: no crash, no 5xx, nothing accepted that was not signed`,
  );
  close({ passed: report.count, failed: 0 });
}
