/** What a sender's signatures are judged by, as its release says: where its keys are, and what they may be for. */
import type { Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { KeySource } from "../signing/types.js";
import type { RouteBinding } from "../store/types.js";
import type { ReceiverConfig } from "./settings.js";
import type { SenderConfig } from "./types.js";

interface SenderKeys {
  readonly keys: KeySource | undefined;
  readonly keyUses: readonly string[];
}

/**
 * Makes the function that has the keys of a route's sender. A source is made once for each release a sender speaks; those of
 * senders that are known by now at once, so that a bad option is told here and not at an event.
 * @throws AdbindError `receiver_option_invalid`, and what a source throws
 */
export function senderKeys<Tx>(config: ReceiverConfig<Tx>) {
  const made = new WeakMap<SenderConfig, Map<string, KeySource>>();
  const now = (): number => Math.floor(config.verifiedAt() / 1000);

  const keysOf = (agentUrl: string, held: SenderConfig, release: Release): SenderKeys => {
    const keyUses = release.facts.signing.webhookKeyUses.value;
    const { keys } = held;
    if (typeof keys !== "function") return { keys, keyUses };
    const sources = made.get(held) ?? new Map<string, KeySource>();
    made.set(held, sources);
    const source = sources.get(release.version) ?? keys({ agentUrl, release, now });
    sources.set(release.version, source);
    return { keys: source, keyUses };
  };

  for (const [sender, held] of config.knownSenders) {
    const bound = held.release === undefined ? config.defaultRelease : config.releases.get(held.release);
    if (bound === undefined) {
      throw new AdbindError("receiver_option_invalid", `the receiver has no release ${held.release}`, {
        where: `senders.${sender}.release`,
        remedy: "bind it in releases",
      });
    }
    keysOf(sender, held, bound.release);
  }

  return ({ sender, release }: RouteBinding, held: SenderConfig): SenderKeys => {
    // What was registered for a release that this instance does not have any more is judged as the first.
    const bound = config.releases.get(release ?? held.release ?? "") ?? config.defaultRelease;
    return keysOf(sender, held, bound.release);
  };
}
