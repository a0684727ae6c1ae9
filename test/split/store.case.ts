/** A store in three databases does what every store does. */
import type { AnyDatabase } from "../../runtime/db/open.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import type { Store } from "../../runtime/store/types.js";
import { storeCase } from "../store/store.case.js";
import { type Ground, NAMES, named } from "./databases.js";

export function splitStoreCase(ground: Ground): void {
  let urls: string[] = [];
  const databases = async (): Promise<AnyDatabase[]> =>
    Promise.all(named(urls).map(async ({ database }) => (typeof database === "function" ? database() : database)));
  storeCase<unknown>({
    name: `three databases, ${ground.name}`,
    async open() {
      const given = await databases();
      const members = given.map((database, at) => ({ name: NAMES[at]!, database }));
      // Each take of a case is to bring what is due, however busy the machine is.
      const store = await shardedBySender(members, { takeMs: 30_000 });
      // The cases set the clock of what expires, which each database has.
      const execute = async (text: string) => {
        for (const one of given) await one.execute(text);
      };
      return Object.assign(store, { database: { shared: given[0]!.shared, execute } }) as unknown as Store;
    },
    async reset() {
      urls = await ground.fresh(3);
      for (const database of await databases()) {
        await database.execute("create table effects (value text)");
        await database.close();
      }
    },
    record: (value) => (tx) => {
      const insert = "insert into effects values";
      const sqlite = tx as { prepare?(text: string): { run(value: string): void } };
      if (sqlite.prepare !== undefined) return void sqlite.prepare(`${insert} (?)`).run(value);
      return (tx as { query(text: string, values: string[]): Promise<void> }).query(`${insert} ($1)`, [value]);
    },
    async recorded() {
      const values: string[] = [];
      for (const database of await databases()) {
        const rows = await database.query((q) => q.rows<{ value: string }>("select value from effects"));
        values.push(...rows.map((row) => row.value));
        await database.close();
      }
      return values;
    },
    end: () => ground.close(),
  });
}
