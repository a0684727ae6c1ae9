/** Keys by which commands verify webhooks, as users name them. */
import { loadRelease } from "../generator/load/load.js";
import { releaseFacts } from "../generator/model/build.js";
import { AdbindError } from "../runtime/errors.js";
import { createGuardedFetch } from "../runtime/net/index.js";
import { printable } from "../runtime/printable.js";
import {
  agentKeys,
  askIdentity,
  brandKeys,
  type DeclaredIdentity,
  remoteJwks,
} from "../runtime/signing/discovery/index.js";
import { type KeySource, staticKeys } from "../runtime/signing/index.js";
import { publicKey, readKeyFile } from "./key-file.js";
import { shownPath, userPath } from "./output.js";
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
  /** The sender is on this machine, and may be without TLS. */
  readonly local?: boolean;
}

const fetchFor = ({ local }: KeysGiven) => createGuardedFetch(local ? { allowHttp: true, allowLoopback: true } : {});

/** The agent's keys as its release has them found; without one as the 3.1 line does. */
async function keysOfAgent(agentUrl: string, given: KeysGiven): Promise<KeySource> {
  const { release, word } = given;
  const fetch = fetchFor(given);
  const onUnasked = (reason: string): void =>
    console.error(printable(`the agent's capabilities cannot be had (${reason}); its host is asked instead`));
  if (release !== undefined) {
    const facts = releaseFacts(await loadRelease(await resolveRelease(release)));
    return agentKeys({ agentUrl, fetch, release: { facts, word }, onUnasked });
  }
  const ask = askIdentity({ agentUrl, word, fetch });
  const declared = (): Promise<DeclaredIdentity> =>
    ask().catch((error: unknown) => {
      if (!(error instanceof Error)) throw error;
      onUnasked(error.message);
      return {};
    });
  return brandKeys({ agentUrl, fetch, declared });
}

/**
 * @returns undefined where neither is given
 * @throws AdbindError `usage` where both are, `file_unusable` for a file that is no key set
 */
export async function keysGiven(given: KeysGiven): Promise<KeySource | undefined> {
  const { jwks, agent } = given;
  if (jwks !== undefined && agent !== undefined)
    throw new AdbindError("usage", "The keys are named twice", { remedy: "give either --jwks or --agent" });
  if (agent !== undefined) return keysOfAgent(agent, given);
  if (jwks === undefined) return undefined;
  if (/^https:/i.test(jwks)) return remoteJwks({ url: jwks, sender: jwks, fetch: fetchFor(given) });
  const file = userPath(jwks);
  // A private file stands for what would be published of it.
  const keys = readKeyFile(file).keys.map((key) => (key.d === undefined ? key : publicKey(key)));
  return staticKeys(keys, { sender: shownPath(file) });
}
