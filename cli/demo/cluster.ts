/** One PostgreSQL for the whole market: a database for the registry, one for the receivers, one for each seller. */

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

async function databases(count: number, make: () => Promise<string>): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) made.push(await make());
  return made;
}
