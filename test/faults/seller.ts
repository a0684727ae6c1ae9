/** `./run faults seller [--kills N] [--engine sqlite|postgres]`: kill -9 of sellers in the middle of calls. */
import { script } from "../../cli/script.js";
import { chosen, closeFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { runSellerFaults } from "./seller-run.js";

const values = script("faults seller", "kill -9 of sellers in the middle of calls")
  .addOption(killsOption(50))
  .addOption(engineOption())
  .parse()
  .opts<FaultsValues>();
let [made, found] = [0, 0];
for (const engine of chosen(values.engine)) {
  const { faults, ...counts } = await runSellerFaults({ engine, kills: values.kills });
  console.log(
    Object.entries(counts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
  );
  for (const fault of faults) console.log(`  FAULT ${fault}`);
  made += counts.kills;
  found += faults.length;
}
closeFaults(made, found);
