/** A key for development, where nobody gives one: made once, and kept with the documents. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type JsonObject, wireNames } from "../contract/index.js";
import { publicJwk } from "../seller/identity.js";
import type { DocumentStore } from "../store/documents.js";
import { madeOnce } from "../store/once.js";
import { EVERYBODY } from "./frame/documents.js";
import type { NamedKey } from "./key-files.js";

const COLLECTION = "development_key";

/** What a key is published for, and under which id it is kept. */
const uses = { webhooks: "webhook-signing", responses: "response-signing" } as const;

/** What is published beside the key that signs: those that did before, and the one that signs answers, which is for nothing else. */
export function alsoPublished(
  word: string,
  { formerKeys, answering }: { readonly formerKeys: readonly NamedKey[]; readonly answering: NamedKey | undefined },
): JsonObject[] {
  const { keyUse } = wireNames(word);
  const responses = answering === undefined ? [] : [{ ...answering, [keyUse]: uses.responses }];
  return [...formerKeys, ...responses].map((key) => publicJwk(key, key.kid, keyUse));
}

/** Processes that start together agree on the first one's. */
export const developmentKey = (
  store: DocumentStore<never>,
  word: string,
  id: keyof typeof uses = "webhooks",
): Promise<NamedKey> =>
  madeOnce(store, { collection: COLLECTION, owner: EVERYBODY, id }, () => ({
    ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }),
    kid: `development-${randomUUID().slice(0, 8)}`,
    alg: "EdDSA",
    use: "sig",
    [`${word}_use`]: uses[id],
  }));
