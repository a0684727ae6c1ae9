/**
 * `./run faults sender [--kills N] [--engine sqlite|postgres] [--pooler] [--queue nats] [--split N]`: kill -9 of senders in the middle of
 * deliveries, beside receivers that hang and lie, with PostgreSQL restarted meanwhile, or one and two of three servers of NATS killed;
 * with `--split` on so many databases, of which one more is added and removed by a command that is killed too.
 */
import { Option } from "commander";
import { count, script } from "../../cli/script.js";
import { hasNats } from "../support/nats.js";
import { chosen, closingFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { runFaults } from "./sender-run.js";

const values = script("faults sender", "kill -9 of senders in the middle of deliveries")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .option("--pooler", "PostgreSQL only, through a PgBouncer that pools by transaction")
  .addOption(new Option("--queue <name>", "what hands events out, in place of the database").choices(["nats"]))
  .option("--split <n>", "databases by principal, of which one more is added and removed meanwhile", count)
  .parse()
  .opts<FaultsValues & { readonly pooler?: boolean; readonly queue?: "nats"; readonly split?: number }>();
const closeFaults = closingFaults();
let [made, found] = [0, 0];
const { pooler = false, queue, split } = values;
if (queue !== undefined && !hasNats()) {
  console.error("nats-server is not there: ./run installs it by go install, with Go on PATH");
  process.exit(2);
}
/** Kills for each restart of PostgreSQL. */
const KILLS_A_RESTART = 15;
for (const engine of pooler || queue !== undefined ? (["postgres"] as const) : chosen(values.engine)) {
  const ledger = await runFaults({
    engine,
    kills: values.kills,
    pooler,
    queue,
    split,
    restarts:
      engine === "postgres" && queue === undefined && split === undefined
        ? Math.min(3, Math.floor(values.kills / KILLS_A_RESTART))
        : 0,
    senders: 3,
    tasks: 30,
    eventsFirst: 20,
    drainMs: 120_000,
  });
  const { faults, ...counts } = ledger;
  made += ledger.kills;
  found += faults.length;
  console.log(
    Object.entries(counts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
  );
  for (const fault of faults) console.log(`  FAULT ${fault}`);
}
closeFaults(made, found);
