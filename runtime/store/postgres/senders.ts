/** Senders by number: short keys in every table. Numbers never change, so they are remembered. */
import { sql } from "../../db/postgres/sql.js";
import type { Db } from "./tables.js";

export interface PostgresSenders {
  idOf(url: string): Promise<number>;
  find(url: string): Promise<number | undefined>;
}

export function postgresSenders(db: Db): PostgresSenders {
  const known = new Map<string, number>();
  const find = async (url: string): Promise<number | undefined> => {
    const cached = known.get(url);
    if (cached !== undefined) return cached;
    const row = await sql<{ id: number }>`select id from adbind_senders where url = ${url}`.first(db);
    if (row !== undefined) known.set(url, row.id);
    return row?.id;
  };
  return {
    find,
    async idOf(url) {
      const found = await find(url);
      if (found !== undefined) return found;
      // Its own transaction: the number is there for good before anything refers to it.
      await sql`insert into adbind_senders (url) values (${url}) on conflict do nothing`.run(db);
      return (await find(url))!;
    },
  };
}
