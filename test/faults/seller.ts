/** `./run faults seller [--kills N] [--engine sqlite|postgres]`: kill -9 of sellers in the middle of calls. */
import { parseArgs } from "node:util";
import { runSellerFaults } from "./seller-run.js";

const { values } = parseArgs({ options: { kills: { type: "string", default: "50" }, engine: { type: "string" } } });
const engines = values.engine === undefined ? (["sqlite", "postgres"] as const) : [values.engine as "sqlite"];
let faulty = false;
for (const engine of engines) {
  const { faults, ...counts } = await runSellerFaults({ engine, kills: Number(values.kills) });
  console.log(
    Object.entries(counts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
  );
  for (const fault of faults) console.log(`  FAULT ${fault}`);
  faulty ||= faults.length > 0;
}
process.exitCode = faulty ? 1 : 0;
