/**
 * `./run soak [--minutes N] [--postgres]`: the demo's market under load, with processes killed, PostgreSQL restarted,
 * connections cut, clocks that jump and a network at its worst, then the books: every event's effect once, nothing lost,
 * memory flat.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Totals, willClose } from "./closing-line.js";
import { keepAlone } from "./demo/alone.js";
import { drained, judge } from "./demo/books.js";
import { startCluster } from "./demo/cluster.js";
import { openMarket } from "./demo/market.js";
import { root } from "./demo/processes.js";
import { Soak } from "./demo/soak-run.js";
import { count, positive, script } from "./script.js";

const values = script("soak", "the demo's market under load and faults, then the books")
  .option("--minutes <n>", "how long", positive, 10)
  .option("--postgres", "on one PostgreSQL, which is restarted too (--cluster: on three, whose primary dies)")
  .option("--port <n>", "first of the ports used; some ten others follow", count, 18_900)
  .parse()
  .opts<{ readonly minutes: number; readonly postgres?: true; readonly port: number }>();
const { minutes, port } = values;
const close = willClose("events");
const home = path.join(root, ".cache/soak", String(port));
const clockFile = path.join(home, "clock");

const say = (line = ""): void => console.log(line);

async function main(): Promise<Totals> {
  await keepAlone(port, "another ./run soak runs, or something else listens there: give another --port");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(clockFile, "0");
  const [sellers, receivers] = [2, 3];
  const cluster = values.postgres ? await startCluster(sellers) : undefined;
  say(
    `A market of ${sellers} sellers and ${receivers} receivers${cluster ? ", on PostgreSQL" : ""}, for ${minutes} minutes`,
  );
  const market = await openMarket({
    ...{ home, sellers, receivers, clockFile, port: port + 1, weather: Math.random, say: () => undefined },
    ...(cluster && { databases: cluster }),
  });
  try {
    const soak = new Soak({ market, minutes, clockFile, say, ...(cluster && { cluster }) });
    await soak.run();
    say("   the faults are over; what is on its way arrives");
    market.scene.calm();
    return judge(soak, await drained(market));
  } finally {
    await market.close();
    await cluster?.stop();
  }
}

close(await main());
