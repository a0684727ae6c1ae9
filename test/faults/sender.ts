/** `./run faults sender [--kills N] [--engine sqlite|postgres]`: kill -9 of senders in the middle of deliveries. */
import { parseArgs } from "node:util";
import { type Ledger, runFaults } from "./sender-run.js";

const { values } = parseArgs({ options: { kills: { type: "string", default: "200" }, engine: { type: "string" } } });
const engines = values.engine === undefined ? (["sqlite", "postgres"] as const) : [values.engine as "sqlite"];
const ledgers: Ledger[] = [];
for (const engine of engines) {
  const ledger = await runFaults({
    engine,
    kills: Number(values.kills),
    senders: 3,
    tasks: 30,
    eventsFirst: 20,
    drainMs: 120_000,
  });
  ledgers.push(ledger);
  const { faults, ...counts } = ledger;
  console.log(
    Object.entries(counts)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
  );
  for (const fault of faults) console.log(`  FAULT ${fault}`);
}
process.exitCode = ledgers.some((ledger) => ledger.faults.length > 0) ? 1 : 0;
