/** `./run faults buyer [--kills N] [--engine sqlite|postgres] [--pooler]`: kill -9 of buyers between an order and its end. */
import { script } from "../../cli/script.js";
import { runBuyerFaults } from "./buyer-run.js";
import { chosen, closingFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";

const values = script("faults buyer", "kill -9 of buyers between an order and its end")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .option("--pooler", "PostgreSQL only, through a PgBouncer that pools by transaction")
  .parse()
  .opts<FaultsValues & { readonly pooler?: boolean }>();
const closeFaults = closingFaults();
let [made, found] = [0, 0];
const { pooler = false, kills } = values;
/** Fewer kills than these are not worth a server of their own, which a restart needs. */
const KILLS_A_RESTART = 20;
for (const engine of pooler ? (["postgres"] as const) : chosen(values.engine)) {
  const restarts = engine === "postgres" && kills >= KILLS_A_RESTART ? 1 : 0;
  const { faults, ...counts } = await runBuyerFaults({ engine, kills, pooler, restarts });
  made += counts.kills;
  found += faults.length;
  const line = Object.entries(counts).map(([name, value]) => `${name} ${value}`);
  console.log(line.join(", "));
  for (const fault of faults) console.log(`  FAULT ${fault}`);
}
closeFaults(made, found);
