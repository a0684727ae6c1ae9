/** Whether events can go to a URL at all. */
import { NetFault } from "../net/codes.js";
import type { NetPolicy } from "../net/policy.js";
import { checkTarget } from "../net/target.js";
import { canonicalUrl } from "../url.js";

/**
 * Judges a URL that is registered. One that no signature can name (a triplet that is none, a label that no host has) would fail
 * at each attempt.
 * @throws NetFault
 */
export function checkEndpointUrl(url: string, policy: NetPolicy): void {
  checkTarget(url, policy);
  const named = canonicalUrl(url, { unicodeHost: "refuse" });
  if (!named.ok) throw new NetFault("url_malformed", named.detail);
}
