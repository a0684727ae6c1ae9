/** Whether events can go to a URL at all. */
import { AdbindError } from "../errors.js";
import { NetFault, publicReason } from "../net/codes.js";
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

/** Judges a URL that an operator names. @throws AdbindError `registration_invalid` */
export function checkMovedUrl(url: string, policy: NetPolicy): void {
  try {
    checkEndpointUrl(url, policy);
  } catch (error) {
    if (!(error instanceof NetFault)) throw error;
    throw new AdbindError("registration_invalid", `events cannot go there: ${publicReason(error.code)}`, {
      where: "url",
      remedy: "give an https URL on the public internet",
    });
  }
}
