/** `./run faults registry [--kills N] [--engine sqlite|postgres] [--part crawl|import]`: kill -9 of registries at work. */
import { parseArgs } from "node:util";
import type { FaultsLedger } from "./registry-children.js";
import { runCrawlFaults } from "./registry-crawls.js";
import type { Engine } from "./registry-database.js";
import { runImportFaults } from "./registry-imports.js";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "100" }, engine: { type: "string" }, part: { type: "string" } },
});
const engines = values.engine === undefined ? (["sqlite", "postgres"] as const) : [values.engine as Engine];
const kills = Number(values.kills);
const parts: [string, (engine: Engine) => Promise<FaultsLedger>][] = [
  ["crawl", (engine) => runCrawlFaults(engine, kills)],
  // Each kill costs some thousand lines: a tenth of the kills is a file of a useful size.
  ["import", (engine) => runImportFaults(engine, Math.ceil(kills / 10))],
];
let failed = false;
for (const engine of engines) {
  for (const [part, run] of parts) {
    if (values.part !== undefined && values.part !== part) continue;
    const { faults, ...ledger } = await run(engine);
    const counts = Object.entries(ledger).map(([name, value]) => `${name} ${value}`);
    console.log([part, ...counts, `faults ${faults.length}`].join(", "));
    for (const fault of faults) console.log(`  FAULT ${fault}`);
    failed ||= faults.length > 0;
  }
}
process.exitCode = failed ? 1 : 0;
