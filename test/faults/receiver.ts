/** `./run faults receiver [--kills N] [--store sqlite|postgres]`: kill -9 under load, then the books. */
import { parseArgs } from "node:util";
import { holds, runFaults } from "./receiver-run.js";

const { values } = parseArgs({ options: { kills: { type: "string", default: "200" }, store: { type: "string" } } });
const kills = Number(values.kills);
const modes = [
  ["sqlite", 1],
  ["postgres", 3],
] as const;

for (const [store, processes] of modes) {
  if (values.store !== undefined && values.store !== store) continue;
  const ledger = await runFaults(store, kills, processes);
  console.log(JSON.stringify(ledger, null, 2));
  const verdict = holds(ledger) ? "holds" : "BROKEN";
  console.log(
    `${verdict}: ${store}, ${ledger.kills} kills, ${ledger.events} events, ${ledger.lost} lost, ${ledger.doubled} applied twice`,
  );
  if (!holds(ledger)) process.exitCode = 1;
}
