/** Two instances of a registry in one process, on one PostgreSQL. */
import { openPostgresStore, type PostgresStore } from "../../runtime/store/index.js";
import { bearer, type Setup, setupRegistry } from "./server-fixture.js";
import { seedWorld } from "./server-world.js";

/** Two instances on one database, and a key that is good at both. */
export async function withTwo(
  url: string,
  work: (both: readonly [Setup, Setup], key: { readonly key: string; readonly id: string }) => Promise<void>,
): Promise<void> {
  const stores: PostgresStore[] = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })]);
  const limits = { publisher: 3, login: 0 };
  const both = await Promise.all(
    stores.map((store) => setupRegistry({ store, limits, embeddedIssuer: true, now: Date.now })),
  );
  try {
    const [a] = both as [Setup, Setup];
    const organization = await a.accounts.addOrganization({ name: "Seller", tier: "company_standard" });
    await seedWorld(a.registry.data, organization.id);
    await work(both as [Setup, Setup], await a.accounts.addKey(organization.id, "k"));
  } finally {
    for (const setup of both) await setup.close();
    for (const store of stores) await store.close();
  }
}

export const getWith = (key: string) => (setup: Setup, place: string) =>
  setup.registry.app.inject({ url: place, headers: bearer(key) });
