/** The API document against the server, on SQLite and on PostgreSQL. */
import { suite } from "uvu";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { contractTests } from "./server-contract.js";
import { type Setup, setupRegistry } from "./server-fixture.js";
import { seedWorld } from "./server-world.js";

async function world(store?: PostgresStore): Promise<{ setup: Setup; token: string }> {
  // Requests for crawls are taken; nobody makes them. Every name has an address, so that they all may wait.
  const crawl = { lookup: async () => [{ address: "93.184.215.14", family: 4 }], capacity: 100_000, debounceMs: 0 };
  const setup = await setupRegistry({ crawling: "queue", crawl, ...(store !== undefined && { store }) });
  const organization = await setup.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
  await seedWorld(setup.registry.data, organization.id);
  return { setup, token: (await setup.accounts.addKey(organization.id, "tests")).key };
}

const sqlite = suite("contract, SQLite");
let onSqlite: { setup: Setup; token: string };
sqlite.before(async () => {
  onSqlite = await world();
});
sqlite.after(() => onSqlite.setup.close());
contractTests(sqlite, () => onSqlite, 50);
sqlite.run();

const postgres = suite("contract, PostgreSQL");
let cluster: TestDatabases;
let store: PostgresStore;
let onPostgres: { setup: Setup; token: string };
postgres.before(async () => {
  cluster = await sharedPostgres();
  store = await openPostgresStore({ url: await cluster.database() });
  onPostgres = await world(store);
});
postgres.after(async () => {
  await onPostgres.setup.close();
  await store.close();
  await cluster.stop();
});
contractTests(postgres, () => onPostgres, 15);
postgres.run();
