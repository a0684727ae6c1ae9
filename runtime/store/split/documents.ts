/** Documents of a seller on several databases: those of one owner are in one of them, and move with it. */
import { type Coroutine, wait } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import {
  type DocumentStore,
  documentCollections,
  documentOwners,
  findDocuments,
  listDocuments,
  readDocument,
  writeDocuments,
} from "../documents.js";
import { askAll } from "./ids.js";
import type { PrincipalRouter } from "./principal-part.js";
import { listForeign, readKeyspace } from "./rows.js";
import { inNoted, noted } from "./transactions.js";

/**
 * A document store on several databases. What is written in a transaction belongs to the owner whose transaction it is.
 * @throws AdbindError from its methods: `split_moving`, `split_wrong_database`, `database_unreachable`
 */
export function splitDocuments<Tx>(router: PrincipalRouter): DocumentStore<Tx> {
  /** Read before its keyspace is looked for: one that is here by then was here when they were read. */
  const look = async <T>(owner: string, read: (q: Query) => Coroutine<T>): Promise<T | undefined> => {
    const found = await router.look(owner, (_, database) =>
      database.query(function* (q): Coroutine<{ readonly value: T } | undefined> {
        const value = yield* read(q);
        const row = yield* readKeyspace(q, "principal", owner);
        return row?.state === "here" || row?.state === "moving" ? { value } : undefined;
      }),
    );
    return found?.value;
  };
  return {
    get: (place) => look(place.owner, (q) => readDocument(q, place)),
    find: async (collection, owner, ids) => (await look(owner, (q) => findDocuments(q, collection, owner, ids))) ?? [],
    list: async (collection, owner) => (await look(owner, (q) => listDocuments(q, collection, owner))) ?? [],
    async owners(collection) {
      const all = await askAll(router, (_, database) => database.query((q) => ownersHere(q, collection)));
      return all.flat().sort();
    },
    collections: async (owner) => (await look(owner, (q) => documentCollections(q, owner))) ?? [],
    write(tx, changes) {
      const { database, owner } = noted(tx) ?? {};
      const other = changes.find((change) => change.owner !== owner);
      if (database === undefined || other !== undefined) throw foreign(other?.owner ?? "tx");
      return database.within(tx, (q) => writeDocuments(q, changes));
    },
    async commit(changes, effects = [], given = changes[0]?.owner) {
      const other = changes.find(({ owner }) => owner !== given);
      if (given === undefined || other !== undefined) throw foreign(other?.owner ?? "owner");
      await router.at(given, ({ hold }, part) => {
        const database = part as Database<Tx>;
        return database.write(function* (q, tx) {
          yield* hold(q, given);
          yield* inNoted({ database, owner: given }, tx, function* () {
            yield* writeDocuments(q, changes);
            for (const effect of effects) yield* wait(effect(tx));
          });
        });
      });
    },
  };
}

const foreign = (where: string): AdbindError =>
  new AdbindError("split_wrong_database", "documents are written in a transaction that is not their owner's", {
    where,
    remedy: "nothing was written; write what belongs to another in a transaction of its own",
  });

/** Owners whose documents are this database's, and not on their way to it or left behind in it. */
function* ownersHere(q: Query, collection: string): Coroutine<string[]> {
  const owners = yield* documentOwners(q, collection);
  const foreigners = new Set(yield* listForeign(q, "principal"));
  return owners.filter((owner) => !foreigners.has(owner));
}
