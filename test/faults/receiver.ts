/** `./run faults receiver [--kills N] [--engine sqlite|postgres]`: kill -9 under load, then the books. */
import { script } from "../../cli/script.js";
import { closeFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { faultsOf, runFaults } from "./receiver-run.js";

const values = script("faults receiver", "kill -9 of receivers under load, then the books")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .parse()
  .opts<FaultsValues>();
const modes = [
  ["sqlite", 1],
  ["postgres", 3],
] as const;

let [kills, found] = [0, 0];
for (const [store, processes] of modes) {
  if (values.engine !== undefined && values.engine !== store) continue;
  const ledger = await runFaults(store, values.kills, processes);
  console.log(JSON.stringify(ledger, null, 2));
  const faults = faultsOf(ledger);
  const verdict = faults === 0 ? "holds" : "BROKEN";
  console.log(
    `${verdict}: ${store}, ${ledger.kills} kills, ${ledger.events} events, ${ledger.lost} lost, ${ledger.doubled} applied twice`,
  );
  kills += ledger.kills;
  found += faults;
}
closeFaults(kills, found);
