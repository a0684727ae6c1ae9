/**
 * `./run soak [--minutes N] [--postgres | --cluster]`: the demo's market under load, with processes killed, PostgreSQL restarted,
 * connections cut, clocks that jump and a network at its worst, then the books: every event's effect once, nothing lost,
 * memory flat. With `--cluster` it is the primary of a PostgreSQL cluster that is killed, frozen and switched over.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { close, type Totals } from "./closing-line.js";
import { drained, judge } from "./demo/books.js";
import { type Cluster, type FailOverCluster, startCluster, startFailOverCluster } from "./demo/cluster.js";
import { FailOvers } from "./demo/fail-overs.js";
import { openMarket } from "./demo/market.js";
import { root } from "./demo/processes.js";
import { Soak } from "./demo/soak-run.js";
import { count, positive, script } from "./script.js";

interface Values {
  readonly minutes: number;
  readonly postgres?: true;
  readonly cluster?: true;
  readonly failOvers?: number;
  readonly asynchronous?: true;
  readonly port: number;
}

const values = script("soak", "the demo's market under load and faults, then the books")
  .option("--minutes <n>", "how long", positive, 10)
  .option("--postgres", "on one PostgreSQL, which is restarted too")
  .option("--cluster", "on three PostgreSQL under Patroni, whose primary is killed, frozen and switched over in turn")
  .option("--fail-overs <n>", "with --cluster: so many, however long it takes", count)
  .option(
    "--asynchronous",
    "with --cluster: commits are answered before a second node has them; what is lost is counted",
  )
  .option("--port <n>", "first of the ports used; some ten others follow", count, 18_900)
  .parse()
  .opts<Values>();
const { minutes, port, asynchronous = false, failOvers: asked } = values;
const home = path.join(root, ".cache/soak", String(port));
const clockFile = path.join(home, "clock");
const [SELLERS, RECEIVERS] = [2, 3];

const say = (line = ""): void => console.log(line);

function prepareHome(): void {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(clockFile, "0");
}

const marketOn = (postgres: Cluster | FailOverCluster | undefined) =>
  openMarket({
    ...{ home, sellers: SELLERS, receivers: RECEIVERS, clockFile, port, weather: Math.random, say: () => undefined },
    ...(postgres && { postgres }),
  });

const told = (where: string): void =>
  say(
    `A market of ${SELLERS} sellers and ${RECEIVERS} receivers${where}, for ${asked ? `${asked} fail-overs` : `${minutes} minutes`}`,
  );

async function main(): Promise<Totals> {
  prepareHome();
  const cluster = values.postgres ? await startCluster(SELLERS) : undefined;
  told(cluster ? ", on PostgreSQL" : "");
  const market = await marketOn(cluster);
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

/** On a cluster: rounds that all parts have to live through, then the same books, and those of what was written beside. */
async function mainOnCluster(): Promise<Totals> {
  prepareHome();
  const cluster = await startFailOverCluster(SELLERS, !asynchronous);
  if (typeof cluster === "string") {
    say(`skipped: there is no cluster, because ${cluster}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  told(`, on three PostgreSQL with ${asynchronous ? "asynchronous" : "synchronous"} replication`);
  const market = await marketOn(cluster);
  try {
    const end = performance.now() + minutes * 60_000;
    const more = (done: number): boolean => (asked === undefined ? performance.now() < end : done < asked);
    let failOvers: FailOvers | undefined;
    const instead = async (running: Soak): Promise<void> => {
      const settled = (): number => running.bought;
      failOvers = new FailOvers({ cluster: cluster.nodes, written: cluster.written, market, settled, say });
      await failOvers.open();
      await failOvers.run(more);
    };
    const soak = new Soak({ market, minutes, clockFile, say, instead });
    await soak.run();
    say("   the fail-overs are over; what is on its way arrives");
    market.scene.calm();
    return closeFailOvers(failOvers!, judge(soak, await drained(market)));
  } finally {
    await market.close();
    await cluster.nodes.stop();
  }
}

async function closeFailOvers(failOvers: FailOvers, books: Totals): Promise<Totals> {
  const { acknowledged, gone, twice, unsure } = await failOvers.reckon();
  const { market } = failOvers.plan;
  market.timeline.table([
    ...failOvers.rows(),
    ["requests that receivers answered with 503", market.scene.unavailable],
    ["rows written beside, acknowledged", acknowledged],
    ["acknowledged and gone", gone],
    ["written twice", twice],
    ["answered by an error, and there", unsure],
  ]);
  const failed = failOvers.done.filter(({ fault }) => fault !== undefined).length;
  const passed = failOvers.done.length - failed;
  // Without synchronous replication what was lost is measured: nobody promised that it is not.
  return { passed, failed: failed + (asynchronous ? 0 : books.failed + gone + twice) };
}

if (values.cluster) close(await mainOnCluster(), "fail-overs");
else close(await main(), "events");
