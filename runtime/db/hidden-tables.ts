/** Tables whose rows the server hides. Without an error what is stored would be as if it were not there: a change would be told to nobody. */
import { AdbindError } from "../errors.js";
import type { Coroutine } from "./coroutine.js";
import type { Query } from "./types.js";

/** Of so many the name is told. */
const NAMED = 3;

/**
 * @param done what cannot be done with the database
 * @param hidden names, with commas between
 * @param where host, port and database
 */
export function hiddenTables(done: "opened" | "used", hidden: string, where: string): AdbindError {
  const names = hidden.split(", ");
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  const told = `${names.slice(0, NAMED).join(", ")}${more}`;
  return new AdbindError(
    "database_unreachable",
    `the database cannot be ${done}: row level security hides all rows of ${told} from the role`,
    {
      where,
      remedy: `run as their owner, for each: alter table ${names[0]} disable row level security; or give the role a policy (create policy NAME on ${names[0]} to ROLE using (true))`,
    },
  );
}

/**
 * For who has found nothing where something may be. In an application's transaction it is asked for the application's role.
 * @throws AdbindError `database_unreachable` that names the tables
 */
export function* refuseHiddenTables(query: Query, where: string): Coroutine<void> {
  const { hiddenTables: asked } = query.dialect;
  if (asked === undefined) return;
  const [row] = yield* query.rows<{ hidden: string | null }>(`select ${asked} as hidden`);
  if (row?.hidden != null) throw hiddenTables("used", row.hidden, where);
}
