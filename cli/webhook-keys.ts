/** Keys by which commands verify webhooks, as users name them. */
import { loadRelease } from "../generator/load/load.js";
import { releaseFacts } from "../generator/model/build.js";
import { AdbindError } from "../runtime/errors.js";
import { discoveryRules } from "../runtime/facts/index.js";
import { createGuardedFetch, type Fetcher } from "../runtime/net/index.js";
import { askIdentity, brandKeys, type DeclaredIdentity, remoteJwks } from "../runtime/signing/discovery/index.js";
import { type KeySource, staticKeys } from "../runtime/signing/index.js";
import { publicKey, readKeyFile } from "./key-file.js";
import { printable, shownPath, userPath } from "./output.js";
import { resolveRelease } from "./release/resolve.js";

export interface KeysGiven {
  /** File or https URL of a key set. */
  readonly jwks?: string;
  /** The sender's agent URL. */
  readonly agent?: string;
  /** The release that the sender speaks: it decides how keys are found. */
  readonly release?: string;
  /** The protocol's word. */
  readonly word: string;
}

/**
 * What the agent itself says, where it says so over MCP. One that cannot be asked is told, and its brand file looked for where
 * releases without that rule have it; from 3.3 on that is not enough.
 */
function asked(agentUrl: string, { word, fetch, must }: { word: string; fetch: Fetcher; must: boolean }) {
  const ask = askIdentity({ agentUrl, word, fetch });
  return async (): Promise<DeclaredIdentity> => {
    try {
      return await ask();
    } catch (error) {
      if (must || !(error instanceof Error)) throw error;
      console.error(printable(`the agent's capabilities cannot be had (${error.message}); its host is asked instead`));
      return {};
    }
  };
}

/** How keys are found, as a release on disk or of the cache says. */
const rulesOf = async (release: string) =>
  discoveryRules({ facts: releaseFacts(await loadRelease(await resolveRelease(release))) });

async function agentKeys(agentUrl: string, { release, word }: KeysGiven): Promise<KeySource> {
  const fetch = createGuardedFetch();
  const rules = release === undefined ? undefined : await rulesOf(release);
  const declared = asked(agentUrl, { word, fetch, must: rules?.webhooks === "capabilities" });
  return brandKeys({ agentUrl, fetch, declared, ...(rules && { rules }) });
}

/**
 * @returns undefined where neither is given
 * @throws AdbindError `usage` where both are, `file_unusable` for a file that is no key set
 */
export async function keysGiven(given: KeysGiven): Promise<KeySource | undefined> {
  const { jwks, agent } = given;
  if (jwks !== undefined && agent !== undefined)
    throw new AdbindError("usage", "The keys are named twice", { remedy: "give either --jwks or --agent" });
  if (agent !== undefined) return agentKeys(agent, given);
  if (jwks === undefined) return undefined;
  if (/^https:/i.test(jwks)) return remoteJwks({ url: jwks, sender: jwks, fetch: createGuardedFetch() });
  const file = userPath(jwks);
  // A private file stands for what would be published of it.
  const keys = readKeyFile(file).keys.map((key) => (key.d === undefined ? key : publicKey(key)));
  return staticKeys(keys, { sender: shownPath(file) });
}
