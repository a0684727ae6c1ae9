/**
 * `./run faults outbox [--kills N] [--example NAME] [--pooler]`: the applications of docs/examples/outbox, killed between
 * their own write and the webhook's.
 */
import { Option } from "commander";
import { script } from "../../cli/script.js";
import { hasPgbouncer } from "../support/pgbouncer.js";
import { closingFaults, killsOption } from "./faults-options.js";
import { type Example, examples, isInstalled, runOutbox } from "./outbox-run.js";

const names = Object.keys(examples) as Example[];
const { kills, example, pooler } = script(
  "faults outbox",
  "kill -9 of applications between their write and the webhook's",
)
  .addOption(killsOption(50))
  .addOption(new Option("--example <name>", "one application only").choices(names))
  .option("--pooler", "through PgBouncer, pooling by transaction")
  .parse()
  .opts<{ kills: number; example?: Example; pooler?: boolean }>();

const closeFaults = closingFaults();
let [made, found, skipped] = [0, 0, 0];
for (const name of example === undefined ? names : [example]) {
  const unfit = pooler === true && name === "better-sqlite3";
  if (unfit && example === undefined) continue;
  if (unfit || (pooler === true && !hasPgbouncer()) || !isInstalled(name)) {
    console.log(
      `${name}: skipped, ${unfit ? "it has no pooler" : isInstalled(name) ? "no pgbouncer" : "not installed"}`,
    );
    skipped += kills;
    continue;
  }
  const { faults, ...counts } = await runOutbox(name, kills, pooler);
  const told = Object.entries(counts).map(([what, count]) => `${what} ${count}`);
  console.log(told.join(", "));
  for (const fault of faults) console.log(`  FAULT ${fault}`);
  made += counts.kills;
  found += faults.length;
}
closeFaults(made, found, skipped);
