/** A key for development, where nobody gives one: made once, and kept with the documents. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import type { DocumentStore } from "../store/documents.js";
import { madeOnce } from "../store/once.js";
import { EVERYBODY } from "./frame/documents.js";

type Key = object & { readonly kid: string };

const COLLECTION = "development_key";

/** What a key is published for, and under which id it is kept. */
const uses = { webhooks: "webhook-signing", responses: "response-signing" } as const;

/** The part of a key that everybody may see, for what it was made. */
export function publishedKey(word: string, key: Key): JsonObject {
  const { kty, crv, x, y } = key as { kty?: string; crv?: string; x?: string; y?: string };
  const alg = kty === "EC" ? "ES256" : "EdDSA";
  const [named, use] = [`${word}_use`, uses.responses];
  return {
    kty,
    crv,
    x,
    ...(y !== undefined && { y }),
    kid: key.kid,
    alg,
    use: "sig",
    key_ops: ["verify"],
    [named]: use,
  };
}

/** Processes that start together agree on the first one's. */
export const developmentKey = (
  store: DocumentStore<never>,
  word: string,
  id: keyof typeof uses = "webhooks",
): Promise<Key> =>
  madeOnce(store, { collection: COLLECTION, owner: EVERYBODY, id }, () => ({
    ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }),
    kid: `development-${randomUUID().slice(0, 8)}`,
    alg: "EdDSA",
    use: "sig",
    [`${word}_use`]: uses[id],
  }));
