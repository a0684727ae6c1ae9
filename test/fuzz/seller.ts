/** `./run fuzz seller [--count N] [--seed N] [--release RELEASE]...`: calls of every tool, valid and with one fault. */
import { existsSync } from "node:fs";
import path from "node:path";
import { willClose } from "../../cli/closing-line.js";
import { releaseHelp, resolveRelease } from "../../cli/release/resolve.js";
import { count, script } from "../../cli/script.js";
import { corpus } from "../support/corpus.js";
import { fuzzSeller } from "./seller-run.js";

const published = ["3.0.26", "3.1.19", "3.2.4"].map((version) => path.join(corpus, "releases", version));
const own = path.resolve(import.meta.dirname, "../../manifests/3.1.0");
const there = published.filter((folder) => existsSync(folder));
const values = script("fuzz seller", "calls of every tool, valid and with one fault, of each release")
  .option("--count <n>", "calls of each release", count, 10_000)
  .option("--seed <n>", "of the requests; the same gives the same", count, (Date.now() % 2 ** 30) + 1)
  .option("--release <release...>", releaseHelp, there.length > 0 ? there : [own])
  .option("--together", "one seller of all of them, the newest of which is named last: each call pins one")
  .parse()
  .opts<{
    readonly count: number;
    readonly seed: number;
    readonly release: readonly [string, ...string[]];
    readonly together?: true;
  }>();

const close = willClose("calls");
console.log(`seed ${values.seed}`);
const totals = { passed: 0, failed: 0 };
const found = await Promise.all(
  values.release.map((given) => resolveRelease(given, { source: path.join(corpus, "releases") })),
);
const sellers = values.together === true ? [found.reverse()] : found.map((one) => [one]);
for (const releases of sellers as [string, ...string[]][]) {
  const report = await fuzzSeller({ releases, count: values.count, seed: values.seed });
  const { versions, tools, calls, handled, handledFaulty, answered, unreached, failures } = report;
  console.log(
    `${versions.join(" + ")}: ${tools} tools, ${calls} calls, ${handled} reached a handler (${handledFaulty} of them with a fault), ${answered} were answered`,
  );
  if (unreached.length > 0) console.log(`  never reached: ${unreached.join(", ")}`);
  for (const { what, times, example } of failures) console.log(`  ${times} times: ${what}\n    ${example}`);
  const failed = failures.reduce((sum, { times }) => sum + times, 0);
  totals.passed += calls - failed;
  totals.failed += failed + unreached.length;
}
close(totals);
