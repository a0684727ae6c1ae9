/**
 * `./run faults retention [--seconds N] [--rate N] [--engine NAME]`: attempts, dead letters and closed channels come at a
 * rate, and a sender with bounds keeps the database in them. On PostgreSQL a run has to see autovacuum's turns: three minutes.
 */
import { count, script } from "../../cli/script.js";
import { chosen, closingFaults, engineOption } from "./faults-options.js";
import { runRetention } from "./retention-run.js";

const { seconds, rate, engine } = script("faults retention", "a store that is written to at a rate stays in its bounds")
  .option("--seconds <n>", "how long, on each engine", count, 180)
  .option("--rate <n>", "attempts a second", count, 2_000)
  .addOption(engineOption())
  .parse()
  .opts<{ seconds: number; rate: number; engine?: "sqlite" | "postgres" }>();

// Nothing is killed here: the database is looked at, again and again.
const closeFaults = closingFaults("looks");
let [made, found] = [0, 0];
for (const name of chosen(engine)) {
  const { samples, faults } = await runRetention(name, { seconds, rate });
  for (const { second, attempts, activity, dead, closed, bytes } of samples) {
    const kept = `${activity} attempts, ${dead} dead letters, ${closed} closed channels kept`;
    console.log(`${name} ${second} s: ${attempts} made; ${kept}; ${(bytes / 1e6).toFixed(1)} MB`);
  }
  for (const fault of faults) console.log(`  FAULT ${fault}`);
  made += samples.length;
  found += faults.length;
}
closeFaults(made, found);
