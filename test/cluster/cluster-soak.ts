/**
 * `./run soak --cluster`: the market on three PostgreSQL, through rounds that all of its parts have to live through; then the
 * books of the market, and of what was written beside it.
 */
import type { Totals } from "../../cli/closing-line.js";
import { drained, judge } from "../../cli/demo/books.js";
import type { MarketDatabases } from "../../cli/demo/cluster.js";
import type { Market } from "../../cli/demo/market.js";
import { Soak } from "../../cli/demo/soak-run.js";
import { prepareCluster, runsAs } from "./cluster-programs.js";
import { FailOvers } from "./fail-overs.js";
import { type HaPostgres, startHaPostgres } from "./ha-postgres.js";

export interface ClusterSoak {
  readonly sellers: number;
  readonly minutes: number;
  /** So many rounds, however long they take; else as many as there is time for. */
  readonly failOvers: number | undefined;
  readonly asynchronous: boolean;
  readonly clockFile: string;
  readonly open: (databases: MarketDatabases) => Promise<Market>;
  readonly say: (line: string) => void;
}

interface MarketCluster extends MarketDatabases {
  readonly nodes: HaPostgres;
  /** A database beside the market's. */
  readonly written: { readonly url: string; readonly directUrl: string };
}

/** @returns why there is none on this machine, where its programs cannot be had */
async function startMarketCluster({ sellers, asynchronous }: ClusterSoak): Promise<MarketCluster | string> {
  const programs = prepareCluster();
  if (typeof programs === "string") return programs;
  const as = runsAs();
  if (typeof as === "string") return as;
  const nodes = await startHaPostgres({ programs, as, synchronous: !asynchronous });
  const urlOf = async (name: string): Promise<string> => (await nodes.database(name)).url;
  const own: string[] = [];
  for (let at = 1; at <= sellers; at++) own.push(await urlOf(`seller_${at}`));
  const written = await nodes.database("written");
  return { registry: await urlOf("registry"), receivers: await urlOf("receivers"), sellers: own, nodes, written };
}

/** Runs it. @returns fail-overs that all lived through, and what is wrong with the others or with the books */
export async function soakCluster(plan: ClusterSoak): Promise<Totals> {
  const { minutes, failOvers: asked, asynchronous, clockFile, say } = plan;
  const cluster = await startMarketCluster(plan);
  if (typeof cluster === "string") {
    say(`skipped: there is no cluster, because ${cluster}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  say(`   three PostgreSQL, replication is ${asynchronous ? "asynchronous" : "synchronous"}`);
  let market: Market | undefined;
  try {
    market = await plan.open(cluster);
    const end = performance.now() + minutes * 60_000;
    const more = (done: number): boolean => (asked === undefined ? performance.now() < end : done < asked);
    const { nodes, written } = cluster;
    const soak: Soak = new Soak({ market, minutes, clockFile, say, instead: () => failOvers.run(more) });
    const failOvers = new FailOvers({ cluster: nodes, written, market, settled: () => soak.bought, say });
    await failOvers.open();
    await soak.run();
    say("   the fail-overs are over; what is on its way arrives");
    market.scene.calm();
    return await totals(failOvers, judge(soak, await drained(market)), asynchronous);
  } finally {
    await market?.close();
    await cluster.nodes.stop();
  }
}

async function totals(failOvers: FailOvers, books: Totals, asynchronous: boolean): Promise<Totals> {
  const { acknowledged, gone, twice, unsure } = await failOvers.reckon();
  const answers = [...failOvers.answers].map(([status, times]) => `${status} ${times} times`);
  failOvers.plan.market.timeline.table([
    ...failOvers.rows(),
    ["answers of receivers to a webhook that came once more", answers.join(", ")],
    ["rows written beside, acknowledged", acknowledged],
    ["acknowledged and gone", gone],
    ["written twice", twice],
    ["answered by an error, and there", unsure],
  ]);
  const failed = failOvers.done.filter(({ fault }) => fault !== undefined).length;
  // Without synchronous replication what was lost is measured: nobody promised that it is not.
  return { passed: failOvers.done.length - failed, failed: failed + (asynchronous ? 0 : books.failed + gone + twice) };
}
