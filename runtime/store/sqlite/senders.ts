/** Senders by number: short keys in every table. Numbers never change, so they are remembered. */
import type { Writer } from "../../db/sqlite/writer.js";

export interface SqliteSenders {
  /** The sender's number; a new one inside the caller's transaction. */
  idOf(url: string): number;
  /** The sender's number, or undefined for one never seen. */
  find(url: string): number | undefined;
}

export function sqliteSenders(writer: Writer): SqliteSenders {
  const { db } = writer;
  const select = db.prepare<[string], { id: number }>("select id from adbind_senders where url = ?");
  const insert = db.prepare<[string], { id: number }>("insert into adbind_senders (url) values (?) returning id");
  const known = new Map<string, number>();
  writer.onRollback(() => known.clear());
  const find = (url: string): number | undefined => {
    const id = known.get(url) ?? select.get(url)?.id;
    if (id !== undefined) known.set(url, id);
    return id;
  };
  return { find, idOf: (url) => find(url) ?? insert.get(url)!.id };
}
