/** The check inside every transaction that writes rows of a keyspace, and what it says where they are not to be written. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import type { SplitKind } from "./placement.js";
import { beginKeyspace, type KeyspaceRow, readSplitSet, shareKeyspace, shareKeyspaces } from "./rows.js";

/** Why a database is not the one to write a keyspace. */
export type Elsewhere =
  /** It has moved, arrives, or stands still for a moment. */
  | { readonly why: "row"; readonly row: KeyspaceRow }
  /** Nobody has seen it here, and it is not to begin here. */
  | { readonly why: "absent"; readonly version: number }
  /** Whoever asks knows another version of the set than the database does. */
  | { readonly why: "outdated" }
  /** The transaction is of another database than the one that was meant. */
  | { readonly why: "foreign" };

/** Thrown before anything is written: the transaction ends, and whoever began it looks elsewhere. */
export class KeyspaceElsewhere extends Error {
  override readonly name = "KeyspaceElsewhere";

  constructor(readonly found: Elsewhere) {
    super(`the keyspace is not here: ${found.why}`);
  }
}

/** Who asks. */
export interface Asking {
  readonly kind: SplitKind;
  /** The database's name in the set. */
  readonly own: string;
  /** The version of the set it knows. */
  version(): number;
  /** May a keyspace that nobody has seen begin in this database? */
  mayBegin(keyspace: string): boolean;
}

/**
 * Holds several keyspaces here, as `holdKeyspace` does one.
 * @throws KeyspaceElsewhere
 */
export function* holdKeyspaces(q: Query, asking: Asking, keyspaces: Iterable<string>): Coroutine<void> {
  const names = [...new Set(keyspaces)].sort();
  if (names.length === 1) return yield* holdKeyspace(q, asking, names[0]!);
  if (names.length === 0) return;
  const known = yield* shareKeyspaces(q, asking.kind, names);
  const away = known.find(({ state }) => state !== "here");
  if (away !== undefined) throw new KeyspaceElsewhere({ why: "row", row: away });
  const there = new Set(known.map(({ name }) => name));
  for (const name of names) if (!there.has(name)) yield* holdKeyspace(q, asking, name);
}

/**
 * Holds a keyspace here to the end of the transaction: whoever would move it waits for that.
 * @throws KeyspaceElsewhere
 */
export function* holdKeyspace(q: Query, asking: Asking, keyspace: string): Coroutine<void> {
  const { kind } = asking;
  const row = yield* shareKeyspace(q, kind, keyspace);
  if (row?.state === "here") return;
  if (row !== undefined) throw new KeyspaceElsewhere({ why: "row", row });
  const known = yield* readSplitSet(q, kind, true);
  const version = asking.version();
  if (known !== undefined && known.own !== asking.own) throw new KeyspaceElsewhere({ why: "foreign" });
  if (known?.set.version !== version) throw new KeyspaceElsewhere({ why: "outdated" });
  if (!asking.mayBegin(keyspace)) throw new KeyspaceElsewhere({ why: "absent", version });
  if (yield* beginKeyspace(q, kind, keyspace)) return;
  // Another transaction has begun it, and may have seen it moved away since.
  const begun = yield* shareKeyspace(q, kind, keyspace);
  if (begun !== undefined && begun.state !== "here") throw new KeyspaceElsewhere({ why: "row", row: begun });
}
