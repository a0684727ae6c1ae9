/** `./run faults sender [--kills N] [--engine sqlite|postgres]`: kill -9 of senders in the middle of deliveries. */
import { script } from "../../cli/script.js";
import { chosen, closeFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { runFaults } from "./sender-run.js";

const values = script("faults sender", "kill -9 of senders in the middle of deliveries")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .parse()
  .opts<FaultsValues>();
let [made, found] = [0, 0];
for (const engine of chosen(values.engine)) {
  const ledger = await runFaults({
    engine,
    kills: values.kills,
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
