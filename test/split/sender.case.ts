/** A sender on three databases does what every sender does. */
import { type AnyDatabase, openDatabase } from "../../runtime/db/open.js";
import { createSender } from "../../runtime/sender/index.js";
import { type PrincipalStore, shardedByPrincipal } from "../../runtime/store/split/principals.js";
import type { SenderCase } from "../sender/sender-suite.js";
import { type Ground, NAMES } from "./databases.js";

/** Whose transactions the cases begin: the principal of theirs. */
const PRINCIPAL = "buyer-1";

export function splitSender(ground: Ground): SenderCase {
  let store: PrincipalStore | undefined;
  let open: AnyDatabase[] = [];
  const rows = async (statement: string): Promise<Record<string, unknown>[]> => {
    const found: Record<string, unknown>[] = [];
    for (const database of open)
      found.push(...(await database.query((q) => q.rows<Record<string, unknown>>(statement))));
    return found;
  };
  return {
    name: `sender on three databases, ${ground.name}`,
    open: (options) => createSender({ ...options, store: store! }),
    async reset() {
      await store?.close();
      open = await Promise.all((await ground.fresh(3)).map((url) => openDatabase(url)));
      store = await shardedByPrincipal(open.map((database, at) => ({ name: NAMES[at]!, database })));
    },
    async transaction(work) {
      const database = (await store!.databaseOf(PRINCIPAL)) as AnyDatabase;
      if (database.engine === "postgres") await database.transaction(async (tx) => void (await work(tx)));
      else database.file.transaction(() => work(database.file))();
    },
    async corrupt(statement, work) {
      await work();
      for (const database of open) await database.execute(statement);
    },
    bytes: async () => Buffer.alloc(0),
    rows,
  };
}
