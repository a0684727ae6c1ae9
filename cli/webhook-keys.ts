/** Keys by which commands verify webhooks, as users name them. */
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch } from "../runtime/net/index.js";
import { brandKeys, remoteJwks } from "../runtime/signing/discovery/index.js";
import { type KeySource, staticKeys } from "../runtime/signing/index.js";
import { publicKey, readKeyFile } from "./key-file.js";
import { shownPath, userPath } from "./output.js";

export interface KeysGiven {
  /** File or https URL of a key set. */
  readonly jwks?: string;
  /** The sender's agent URL. */
  readonly agent?: string;
}

/**
 * @returns undefined where neither is given
 * @throws AdbindError `usage` where both are, `file_unusable` for a file that is no key set
 */
export function keysGiven({ jwks, agent }: KeysGiven): KeySource | undefined {
  if (jwks !== undefined && agent !== undefined)
    throw new AdbindError("usage", "The keys are named twice", { remedy: "give either --jwks or --agent" });
  if (agent !== undefined) return brandKeys({ agentUrl: agent, fetch: createGuardedFetch() });
  if (jwks === undefined) return undefined;
  if (/^https:/i.test(jwks)) return remoteJwks({ url: jwks, sender: jwks, fetch: createGuardedFetch() });
  const file = userPath(jwks);
  // A private file stands for what would be published of it.
  const keys = readKeyFile(file).keys.map((key) => (key.d === undefined ? key : publicKey(key)));
  return staticKeys(keys, { sender: shownPath(file) });
}
