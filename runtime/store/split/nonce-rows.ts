/** Nonces of a keyspace's keys. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { type CopiedRows, type RowChange, removeRows } from "./copy.js";

/** A key with its number in one database. */
export interface NumberedKey {
  readonly id: number;
  readonly keyid: string;
}

const PREFIX = "principal:";

/** Whose nonces of a principal are, among those of senders. */
export const nonceOwner = (principal: string): string => PREFIX + principal;

export const principalOf = (owner: string): string => owner.slice(PREFIX.length);

export const isPrincipalKey = (keyid: string): boolean => keyid.startsWith(PREFIX);

const nonceRows = {
  ...{ table: "adbind_nonces", keys: ["nonce"], rest: ["expires"], unique: ["key", "nonce"] },
  expires: { column: "expires", perSecond: 1 },
};

/** The number of a name, made where it has none: numbers stay when rows go, for instances remember them. */
export function* numberOf(q: Query, table: string, column: string, name: string): Coroutine<number> {
  yield* q.run(`insert into ${table} (${column}) values (?) on conflict do nothing`, [name]);
  const [row] = yield* q.rows<{ id: number }>(`select id from ${table} where ${column} = ?`, [name]);
  return row!.id;
}

/** Keys of an owner: their names are the owner's, a blank, and their own. */
export const keysOf = (q: Query, owner: string): Coroutine<NumberedKey[]> =>
  q.rows("select id, keyid from adbind_nonce_keys where keyid = ? or substr(keyid, 1, ?) = ?", [
    owner,
    [...owner].length + 1,
    `${owner} `,
  ]);

/**
 * Of a database that was alone: gives principals the nonces that their requests have used, which would be taken again. Those of
 * webhooks' senders stay theirs and are copied with them; nobody asks for those.
 * @returns numbers of the keys that were given some
 */
export function* givenNonces(q: Query): Coroutine<number[]> {
  const keys = yield* q.rows<NumberedKey>("select id, keyid from adbind_nonce_keys where keyid <> ''");
  const given: number[] = [];
  for (const { id, keyid } of keys.filter((one) => !isPrincipalKey(one.keyid))) {
    const own = yield* numberOf(q, "adbind_nonce_keys", "keyid", nonceOwner(keyid));
    const copied = yield* q.run(
      "insert into adbind_nonces (key, nonce, expires) select cast(? as bigint), nonce, expires from adbind_nonces " +
        "where key = ? on conflict do nothing",
      [own, id],
    );
    if (copied > 0) given.push(own);
  }
  return given;
}

export async function copiedNonces(from: Database, to: Database, owner: string): Promise<CopiedRows[]> {
  const nonces: CopiedRows[] = [];
  for (const { id, keyid } of await from.query((q) => keysOf(q, owner))) {
    const other = await to.write((q) => numberOf(q, "adbind_nonce_keys", "keyid", keyid));
    nonces.push({ ...nonceRows, owner: { column: "key", from: id, to: other } });
  }
  return nonces;
}

export async function removeNonces(
  database: Database,
  change: RowChange,
  keys: readonly Pick<NumberedKey, "id">[],
): Promise<void> {
  for (const { id } of keys)
    await removeRows(database, change, {
      table: "adbind_nonces",
      owner: { column: "key" },
      value: id,
      keys: ["nonce"],
    });
}
