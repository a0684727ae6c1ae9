/** A key for development, where nobody gives one: made once, and kept with the documents. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type DocumentStore, StaleDocument } from "../store/documents.js";

type Key = object & { readonly kid: string };

const PLACE = { collection: "development_key", owner: "", id: "webhooks" };

/** Processes that start together agree on the first one's. */
export async function developmentKey(store: DocumentStore<never>, word: string): Promise<Key> {
  const found = await store.get(PLACE);
  if (found !== undefined) return JSON.parse(found.body) as Key;
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const key = {
    ...jwk,
    kid: `development-${randomUUID().slice(0, 8)}`,
    alg: "EdDSA",
    use: "sig",
    [`${word}_use`]: "webhook-signing",
  };
  try {
    await store.commit([{ ...PLACE, version: 0, body: JSON.stringify(key) }]);
    return key;
  } catch (error) {
    if (!(error instanceof StaleDocument)) throw error;
    return developmentKey(store, word);
  }
}
