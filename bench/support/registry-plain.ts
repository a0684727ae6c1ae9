/**
 * The plain design, to compare a search with: one row an agent with an array column a dimension, a GIN index on each, the
 * score computed and sorted per query (docs/protocol/registry.md#score). Its rows are made from the profiles that are there.
 */
import pg from "pg";
import { SEARCH_DIMENSIONS, type SearchFilters } from "../../runtime/registry/types.js";

export interface PlainSearch {
  search(filters: SearchFilters, limit: number): Promise<unknown[]>;
  close(): Promise<void>;
}

const LIST_AT = (at: number): string =>
  `array(select jsonb_array_elements_text(lists::jsonb -> ${at})) as ${SEARCH_DIMENSIONS[at]}`;

/** @param connections as many as the other side has */
export async function openPlainSearch(url: string, connections: number): Promise<PlainSearch> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  // Connections that its end cuts off are nobody's concern.
  pool.on("error", () => undefined);
  const lists = SEARCH_DIMENSIONS.map((_, at) => LIST_AT(at)).join(", ");
  await pool.query(
    `create table if not exists plain_profiles as select url as agent_url, ${lists}, property_count, publisher_count, ` +
      "has_tmp = 1 as has_tmp, taxonomy as category_taxonomy, updated_at from adbind_registry_profiles where gone = 0 and registered = 1",
  );
  await pool.query("create unique index if not exists plain_url on plain_profiles (agent_url)");
  for (const name of SEARCH_DIMENSIONS)
    await pool.query(`create index if not exists plain_${name} on plain_profiles using gin (${name})`);
  await pool.query("create index if not exists plain_tmp on plain_profiles (agent_url) where has_tmp");
  await pool.query("vacuum analyze plain_profiles");
  return {
    async search(filters, limit) {
      const used = SEARCH_DIMENSIONS.filter((name) => (filters[name]?.length ?? 0) > 0);
      const conditions = used.map((name, at) => `${name} && $${at + 2}::text[]`);
      const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
      const { rows } = await pool.query(
        `select *, ${used.length > 0 ? 1 : 0} + 0.1 * ln(property_count + 1) + case when has_tmp then 0.05 else 0 end as score ` +
          `from plain_profiles ${where} order by score desc, agent_url limit $1`,
        [limit + 1, ...used.map((name) => filters[name])],
      );
      return rows.slice(0, limit);
    },
    close: () => pool.end(),
  };
}
