/** Keys of an agent as the release that it speaks has them found: nothing else need be known of it than its URL. */
import type { Release } from "../../contract/index.js";
import { discoveryRules } from "../../facts/index.js";
import { safely } from "../../listener.js";
import type { KeySource } from "../types.js";
import { type BrandKeysOptions, brandKeys, type DeclaredIdentity } from "./brand.js";
import { askIdentity } from "./capabilities.js";
import { createDiscoveryCache, type DiscoveryOptions } from "./options.js";
import { publisherPin } from "./pin.js";

/** Whose keys to find, and by the rules of which release. */
export interface AgentKeysOptions
  extends DiscoveryOptions,
    Pick<BrandKeysOptions, "agentUrl" | "purpose" | "brandUrl" | "operator" | "ttlSeconds" | "onJwksUriChange"> {
  /** The release that the agent speaks. */
  readonly release: Pick<Release, "facts" | "word">;
  /**
   * Domains of the publishers whose inventory it sells, from one's own record and never from a payload: the pin of each narrows
   * its keys, so that each must have its file. None by default.
   */
  readonly publishers?: readonly string[];
  /**
   * Told when an agent that need not be asked what it declares could not be: its brand file is then looked for where the release
   * has it. Where the release says that it must be asked, its keys are unavailable instead.
   */
  readonly onUnasked?: (reason: string) => void;
}

/**
 * Keys of an agent by its release: the agent is asked what it declares of its identity, its brand file is read as the release
 * has it, and publishers' pins narrow what is found. For `keys` of a receiver's senders, and of a seller's callers.
 * @throws AdbindError `discovery_option_invalid`
 */
export function agentKeys(options: AgentKeysOptions): KeySource {
  const { release, publishers = [], purpose = "webhook_signing", cache = createDiscoveryCache(), ...given } = options;
  const { agentUrl, fetch, now } = options;
  const rules = discoveryRules(release);
  const common = { agentUrl, cache, ...(fetch && { fetch }), ...(now && { now }) };
  const placed = given.brandUrl !== undefined || given.operator !== undefined;
  const keys = brandKeys({ ...given, cache, purpose, rules, ...(!placed && { declared: declaredBy(options) }) });
  return publishers.reduce<KeySource>(
    (inner, publisher) => publisherPin({ ...common, keys: inner, publisher, rule: rules.pin, word: release.word }),
    keys,
  );
}

/** What the agent says of itself; nothing where it cannot be asked and the release has another way. */
function declaredBy({ agentUrl, release, fetch, purpose, onUnasked }: AgentKeysOptions) {
  const { requests, webhooks } = release.facts.discovery;
  const must = (purpose === "request_signing" ? requests : webhooks).value === "capabilities";
  const ask = askIdentity({ agentUrl, word: release.word, ...(fetch && { fetch }) });
  return async (): Promise<DeclaredIdentity> => {
    try {
      return await ask();
    } catch (error) {
      if (must || !(error instanceof Error)) throw error;
      safely(() => onUnasked?.(error.message));
      return {};
    }
  };
}
