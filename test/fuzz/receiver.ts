/** `./run fuzz receiver [--count N] [--seed N]`: mutated requests, counted by what they were answered. */
import { parseArgs } from "node:util";
import { runFuzz } from "./receiver-run.js";

const { values } = parseArgs({ options: { count: { type: "string", default: "20000" }, seed: { type: "string" } } });
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);
const report = await runFuzz(Number(values.count), seed);
for (const [status, count] of Object.entries(report.statuses).sort((a, b) => b[1] - a[1])) {
  console.log(`${String(count).padStart(9)}  ${status}`);
}
console.log(
  `${report.count} requests in ${report.seconds.toFixed(0)} s: no crash, no 5xx, nothing accepted that was not signed`,
);
