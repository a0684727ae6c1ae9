/** `./run faults seller [--kills N] [--engine sqlite|postgres] [--part handlers|library]`: kill -9 of sellers in the middle of calls. */
import { Option } from "commander";
import { script } from "../../cli/script.js";
import { chosen, closingFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { runLibraryFaults } from "./library-run.js";
import { runSellerFaults } from "./seller-run.js";

/** Sellers of handlers of one's own, and of the library's behaviours before an ad server that loses answers. */
const parts = { handlers: runSellerFaults, library: runLibraryFaults } as const;
type Part = keyof typeof parts;
const names = Object.keys(parts) as Part[];

const values = script("faults seller", "kill -9 of sellers in the middle of calls")
  .addOption(killsOption(50))
  .addOption(engineOption())
  .addOption(new Option("--part <name>", "one kind of seller only").choices(names))
  .parse()
  .opts<FaultsValues & { readonly part?: Part }>();
const closeFaults = closingFaults();
let [made, found] = [0, 0];
for (const part of values.part === undefined ? names : [values.part])
  for (const engine of chosen(values.engine)) {
    const { faults, ...counts } = await parts[part]({ engine, kills: values.kills });
    const line = Object.entries(counts).map(([name, value]) => `${name} ${value}`);
    console.log(`${part}: ${line.join(", ")}`);
    for (const fault of faults) console.log(`  FAULT ${fault}`);
    made += counts.kills;
    found += faults.length;
  }
closeFaults(made, found);
