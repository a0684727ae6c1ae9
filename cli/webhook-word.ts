/** The protocol's word of a webhook, where a command is not told: it names the signature's tag, and each key says its own. */
import type { Jwk } from "../runtime/signing/index.js";
import { readKeyFile } from "./key-file.js";
import { userPath } from "./output.js";
import { protocolWord, wordHere } from "./protocol-word.js";

/** For help texts. */
export const wordHelp = "the protocol's word; that of the key by default";

export interface WebhookWord {
  readonly word?: string;
  readonly release?: string;
  /** File or URL of a key set. */
  readonly jwks?: string;
}

/** What those fall back to who have neither a key that says it nor bindings. */
const NOBODY_SAYS = "proto";

/** The word that keys say they are for; none where none says it. */
export const wordOfKeys = (keys: readonly object[]): string | undefined =>
  keys
    .flatMap((key) => Object.keys(key))
    .find((member) => /^[a-z][a-z0-9]*_use$/.test(member))
    ?.slice(0, -"_use".length);

/** The word a webhook is signed under by a key. */
export const wordToSign = async ({ word }: WebhookWord, key: Jwk): Promise<string> =>
  word ?? wordOfKeys([key]) ?? (await wordHere()) ?? NOBODY_SAYS;

/**
 * The word a webhook is verified under.
 * @throws AdbindError that of the release, `file_unusable` for a file that is no key set
 */
export async function wordToVerify({ word, release, jwks }: WebhookWord): Promise<string> {
  if (word !== undefined) return word;
  if (release !== undefined) return protocolWord({ release });
  const keys = jwks === undefined || /^https:/i.test(jwks) ? [] : readKeyFile(userPath(jwks)).keys;
  return wordOfKeys(keys) ?? (await wordHere()) ?? NOBODY_SAYS;
}
