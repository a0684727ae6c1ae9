/**
 * Where a transaction is: the server, the database and the schema in which its session finds our tables. Two databases have
 * the same tables, and so may two schemas of one; what is stored in another than the sender's is lost to it.
 */
import { AdbindError } from "../../errors.js";
import { type Coroutine, wait } from "../coroutine.js";

export interface SessionPlace {
  /** One server's since it was started, one database's, one table's: two servers made alike have the same numbers. */
  readonly place: string;
  /** Names, for messages. */
  readonly database: string;
  readonly schema: string | null;
}

/** Columns of a statement that answer a place; who may use the tables at all may ask this, and nothing is locked. */
export const PLACE =
  "concat_ws('/', (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint, " +
  "(select oid from pg_database where datname = current_database()), " +
  "coalesce(to_regclass('adbind_jobs')::oid, 0)) as place, current_database()::text as database, " +
  "(select relnamespace::regnamespace::text from pg_class where oid = to_regclass('adbind_jobs')) as schema";

const nameOf = ({ database, schema }: SessionPlace): string =>
  schema === null
    ? `the database ${database}, where the search_path names no schema with an outbox,`
    : `the schema ${schema} of the database ${database}`;

/** The place of a store. It is asked anew before anything is refused: a server is restarted, or another takes its part. */
export class OwnPlace {
  #known: SessionPlace | undefined;

  /** @param where the store, for messages */
  constructor(
    readonly where: string,
    readonly ask: () => Promise<SessionPlace>,
  ) {}

  async look(): Promise<SessionPlace> {
    this.#known = await this.ask();
    return this.#known;
  }

  has({ place }: SessionPlace): boolean {
    return this.#known?.place === place;
  }

  /** @throws AdbindError `transaction_invalid` for another place than this */
  *refuseOther(other: SessionPlace): Coroutine<void> {
    if (this.has(other)) return;
    const own = yield* wait(this.look());
    if (this.has(other)) return;
    const server = nameOf(own) === nameOf(other) ? ", on another server" : "";
    const what = `the transaction is in ${nameOf(other)}, and adbind's store in ${nameOf(own)} (${this.where})${server}`;
    throw new AdbindError("transaction_invalid", `${what}: what is stored would be lost to it`, {
      where: "tx",
      remedy:
        "nothing was stored: give a transaction in the store's own database, whose search_path finds the store's schema first",
    });
  }
}

interface Wire {
  on?(event: "parameterStatus", listener: (message: { readonly parameterName: string }) => void): unknown;
}

interface Known {
  readonly place: SessionPlace;
  /** It was in two places: whoever has changed its search_path once does it again. */
  readonly moves: boolean;
}

/** Where connections are, as they were asked last. */
const connections = new WeakMap<object, Known>();
const heard = new WeakSet<object>();

/** From PostgreSQL 18 on a server tells when a search_path is changed. */
function hear(client: object): void {
  if (heard.has(client)) return;
  heard.add(client);
  (client as { connection?: Wire }).connection?.on?.("parameterStatus", ({ parameterName }) => {
    if (parameterName === "search_path") connections.delete(client);
  });
}

/**
 * Asks a connection where it is: once, and again where that was elsewhere, or where it has moved before.
 * @throws AdbindError `transaction_invalid` for another place than the store's
 */
export function* refuseElsewhere(own: OwnPlace, client: object, ask: () => Promise<SessionPlace>): Coroutine<void> {
  const before = connections.get(client);
  if (before !== undefined && !before.moves && own.has(before.place)) return;
  hear(client);
  const place = yield* wait(ask());
  connections.set(client, {
    place,
    moves: before !== undefined && (before.moves || before.place.place !== place.place),
  });
  yield* own.refuseOther(place);
}
