/** A key for development, where nobody gives one: made once, and kept with the documents. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import type { DocumentStore } from "../store/documents.js";
import { madeOnce } from "../store/once.js";

type Key = object & { readonly kid: string };

const PLACE = { collection: "development_key", owner: "", id: "webhooks" };

/** Processes that start together agree on the first one's. */
export const developmentKey = (store: DocumentStore<never>, word: string): Promise<Key> =>
  madeOnce(store, PLACE, () => ({
    ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }),
    kid: `development-${randomUUID().slice(0, 8)}`,
    alg: "EdDSA",
    use: "sig",
    [`${word}_use`]: "webhook-signing",
  }));
