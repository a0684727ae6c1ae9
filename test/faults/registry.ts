/** `./run faults registry [--kills N] [--engine sqlite|postgres] [--part crawl|import]`: kill -9 of registries at work. */
import { Option } from "commander";
import { script } from "../../cli/script.js";
import { chosen, closingFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import type { FaultsLedger } from "./registry-children.js";
import { runCrawlFaults } from "./registry-crawls.js";
import type { Engine } from "./registry-database.js";
import { runImportFaults } from "./registry-imports.js";

const values = script("faults registry", "kill -9 of registries at work")
  .addOption(killsOption(100))
  .addOption(engineOption())
  .addOption(new Option("--part <name>", "one part only").choices(["crawl", "import"]))
  .parse()
  .opts<FaultsValues & { readonly part?: string }>();
const { kills } = values;
const parts: [string, (engine: Engine) => Promise<FaultsLedger>][] = [
  ["crawl", (engine) => runCrawlFaults(engine, kills)],
  // Each kill costs some thousand lines: a tenth of the kills is a file of a useful size.
  ["import", (engine) => runImportFaults(engine, Math.ceil(kills / 10))],
];
const closeFaults = closingFaults();
let [made, found] = [0, 0];
for (const engine of chosen(values.engine)) {
  for (const [part, run] of parts) {
    if (values.part !== undefined && values.part !== part) continue;
    const { faults, ...ledger } = await run(engine);
    const counts = Object.entries(ledger).map(([name, value]) => `${name} ${value}`);
    console.log([part, ...counts, `faults ${faults.length}`].join(", "));
    for (const fault of faults) console.log(`  FAULT ${fault}`);
    made += ledger.kills;
    found += faults.length;
  }
}
closeFaults(made, found);
