/** Which database a store is in, whatever it was opened by: two URLs may name one. */
import { randomUUID } from "node:crypto";
import type { Database } from "../db/types.js";
import { documentStore } from "./documents.js";
import { madeOnce } from "./once.js";

const PLACE = { collection: "store", owner: "", id: "identity" };

/** A random name, the same for every store on that database, and kept there. */
export const storeIdentity = <Tx>(database: Database<Tx>): Promise<string> =>
  madeOnce(documentStore(database), PLACE, randomUUID);
