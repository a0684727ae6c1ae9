/** What is made once for a store, by whoever comes first, and is everybody's from then on. */
import { type DocumentPlace, type DocumentStore, StaleDocument } from "./documents.js";

/** Processes that begin together agree on the first one's. @param make what JSON can tell */
export async function madeOnce<T>(
  store: Pick<DocumentStore<never>, "get" | "commit">,
  place: DocumentPlace,
  make: () => T,
): Promise<T> {
  const found = await store.get(place);
  if (found !== undefined) return JSON.parse(found.body) as T;
  try {
    await store.commit([{ ...place, version: 0, body: JSON.stringify(make()) }]);
  } catch (error) {
    if (!(error instanceof StaleDocument)) throw error;
  }
  return madeOnce(store, place, make);
}
