/** Where a registry is served, kept in its store: by that, commands beside it know which files are its own, and who they are to others. */
import type { Database } from "../db/types.js";
import { documentStore, StaleDocument } from "../store/documents.js";

const PLACE = { collection: "registry", owner: "", id: "address" };

/** @returns the public address that the registry was last served at; undefined where none was ever named */
export async function keptAddress(database: Database): Promise<string | undefined> {
  const found = await documentStore(database).get(PLACE);
  return found === undefined ? undefined : (JSON.parse(found.body) as string);
}

/** Keeps it for commands. @param address as `keptAddress` answers it from then on */
export async function keepAddress(database: Database, address: string): Promise<void> {
  const documents = documentStore(database);
  const found = await documents.get(PLACE);
  const body = JSON.stringify(address);
  if (found?.body === body) return;
  try {
    await documents.commit([{ ...PLACE, version: found?.version ?? 0, body }]);
  } catch (error) {
    // Another instance that starts with this one has said it.
    if (!(error instanceof StaleDocument)) throw error;
  }
}
