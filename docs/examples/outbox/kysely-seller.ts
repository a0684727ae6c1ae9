/** A seller whose products are rows of the application's own, read with its query builder, and whose log is the application's. */
import { createServer } from "node:http";
import { type Catalogue, openSeller } from "adbind/behaviours";
import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import type { Logger } from "pino";
import { release } from "#bindings";

interface Tables {
  offers: { id: string; name: string; cpm: number; format: string };
}

/** @param file of the application's database; the seller keeps its own tables there too */
export async function startShop(file: string, logger: Logger) {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(file) }) });
  await db.schema
    .createTable("offers")
    .ifNotExists()
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("cpm", "real", (column) => column.notNull())
    .addColumn("format", "text", (column) => column.notNull())
    .execute();
  const catalogue: Catalogue = {
    async products() {
      const offers = await db.selectFrom("offers").selectAll().orderBy("id").execute();
      return offers.map(({ id, name, cpm, format }) => ({
        product_id: id,
        name,
        description: name,
        delivery_type: "non_guaranteed" as const,
        channels: ["display"],
        formats: [format],
        pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "EUR", fixed_price: cpm }],
      }));
    },
  };
  const seller = await openSeller({
    release,
    specialisms: ["sales_non_guaranteed"],
    name: "Shop",
    database: `sqlite:${file}`,
    baseUrl: "http://127.0.0.1",
    mode: "development",
    ports: { catalogue },
    logger,
  });
  const { listener } = await seller.mount();
  const server = createServer((request, response) => listener(request, response, () => response.writeHead(404).end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    db,
    server,
    async close() {
      server.close();
      await seller.close();
      await db.destroy();
    },
  };
}
