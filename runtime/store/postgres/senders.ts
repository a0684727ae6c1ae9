/** Senders by number: short keys in every table. Numbers never change, so they are remembered. */
import type { Db } from "./tables.js";

export interface Senders {
  idOf(url: string): Promise<number>;
  find(url: string): Promise<number | undefined>;
}

export function postgresSenders(db: Db): Senders {
  const known = new Map<string, number>();
  const find = async (url: string): Promise<number | undefined> => {
    const cached = known.get(url);
    if (cached !== undefined) return cached;
    const row = await db.selectFrom("adbind_senders").select("id").where("url", "=", url).executeTakeFirst();
    if (row !== undefined) known.set(url, row.id);
    return row?.id;
  };
  return {
    find,
    async idOf(url) {
      const found = await find(url);
      if (found !== undefined) return found;
      // Its own transaction: the number is there for good before anything refers to it.
      await db
        .insertInto("adbind_senders")
        .values({ url })
        .onConflict((on) => on.doNothing())
        .execute();
      return (await find(url))!;
    },
  };
}
