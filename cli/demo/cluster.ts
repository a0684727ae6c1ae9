/** One PostgreSQL for the whole market, or a cluster of three whose primary may die: a database for the registry, one for the receivers, one for each seller. */

import type { HaPostgres } from "../../test/cluster/ha-postgres.js";

export interface MarketDatabases {
  readonly registry: string;
  readonly receivers: string;
  /** A seller's own: sellers that share one would be one agent. */
  readonly sellers: readonly string[];
}

export interface Cluster extends MarketDatabases {
  /** Stops PostgreSQL as a machine that shuts down does, and starts it again on its data. */
  restart(): Promise<void>;
  /** Ends every connection there is. */
  cut(): Promise<void>;
  stop(): Promise<void>;
}

const CUT =
  "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'";

export async function startCluster(sellers: number): Promise<Cluster> {
  // Only a checkout of the sources has them.
  const [{ startPostgres }, { default: pg }] = await Promise.all([
    import("../../test/support/postgres.js"),
    import("pg"),
  ]);
  const postgres = await startPostgres();
  const [registry, receivers, ...own] = await databases(2 + sellers, () => postgres.database());
  return {
    registry: registry!,
    receivers: receivers!,
    sellers: own,
    restart: () => postgres.restart(),
    async cut() {
      const client = new pg.Client(registry);
      await client.connect();
      await client.query(CUT);
      await client.end();
    },
    stop: () => postgres.stop(),
  };
}

export interface FailOverCluster extends MarketDatabases {
  readonly nodes: HaPostgres;
  /** A database beside the market's. */
  readonly written: { readonly url: string; readonly directUrl: string };
}

/** @returns why there is none on this machine, where its programs cannot be had */
export async function startFailOverCluster(sellers: number, synchronous: boolean): Promise<FailOverCluster | string> {
  const [{ prepareCluster, runsAs }, { startHaPostgres }] = await Promise.all([
    import("../../test/cluster/cluster-programs.js"),
    import("../../test/cluster/ha-postgres.js"),
  ]);
  const programs = prepareCluster();
  if (typeof programs === "string") return programs;
  const as = runsAs();
  if (typeof as === "string") return as;
  const nodes = await startHaPostgres({ programs, as, synchronous });
  let made = 0;
  const [registry, receivers, ...own] = await databases(2 + sellers, async () => {
    const { url } = await nodes.database(`market_${++made}`);
    return url;
  });
  const written = await nodes.database("written");
  return { registry: registry!, receivers: receivers!, sellers: own, nodes, written };
}

async function databases(count: number, make: () => Promise<string>): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) made.push(await make());
  return made;
}
