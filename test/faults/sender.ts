/**
 * `./run faults sender [--kills N] [--engine sqlite|postgres] [--pooler]`: kill -9 of senders in the middle of deliveries,
 * beside receivers that hang and lie, with PostgreSQL restarted meanwhile.
 */
import { script } from "../../cli/script.js";
import { chosen, closeFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { runFaults } from "./sender-run.js";

const values = script("faults sender", "kill -9 of senders in the middle of deliveries")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .option("--pooler", "PostgreSQL only, through a PgBouncer that pools by transaction")
  .parse()
  .opts<FaultsValues & { readonly pooler?: boolean }>();
let [made, found] = [0, 0];
const { pooler = false } = values;
/** Kills for each restart of PostgreSQL. */
const KILLS_A_RESTART = 15;
for (const engine of pooler ? (["postgres"] as const) : chosen(values.engine)) {
  const ledger = await runFaults({
    engine,
    kills: values.kills,
    pooler,
    restarts: engine === "postgres" ? Math.min(3, Math.floor(values.kills / KILLS_A_RESTART)) : 0,
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
