/**
 * `./run faults receiver [--kills N] [--engine sqlite|postgres] [--split N]`: kill -9 under load, then the books. With `--split`
 * its store is in so many databases, and one more is added and removed meanwhile by a command that is killed too.
 */
import { count, script } from "../../cli/script.js";
import { closingFaults, engineOption, type FaultsValues, killsOption } from "./faults-options.js";
import { faultsOf, runFaults } from "./receiver-run.js";
import { runSplitFaults, splitFaults } from "./split-run.js";

const values = script("faults receiver", "kill -9 of receivers under load, then the books")
  .addOption(killsOption(200))
  .addOption(engineOption())
  .option("--split <n>", "databases, of which one more is added and removed meanwhile", count)
  .parse()
  .opts<FaultsValues & { readonly split?: number }>();
const modes = [
  ["sqlite", 1],
  ["postgres", 3],
] as const;

const closeFaults = closingFaults();
let [kills, found] = [0, 0];
for (const [store, processes] of modes) {
  if (values.engine !== undefined && values.engine !== store) continue;
  if (values.split !== undefined) {
    const ledger = await runSplitFaults(store, { kills: values.kills, processes, split: values.split });
    console.log(JSON.stringify(ledger, null, 2));
    const faults = splitFaults(ledger);
    console.log(
      `${faults === 0 ? "holds" : "BROKEN"}: ${store} in ${values.split} databases, ${ledger.kills} kills, ` +
        `${ledger.changes} changes, ${ledger.events} events, ${ledger.lost} lost, ${ledger.doubled} applied twice, ` +
        `${ledger.forged} forged believed, ${ledger.scattered} senders in several databases`,
    );
    kills += ledger.kills;
    found += faults;
    continue;
  }
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
