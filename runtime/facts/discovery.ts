/** How keys are found, in the values that key discovery takes. */
import type { Release } from "../contract/index.js";

/** The rules of brand files and pins of a peer's release: `brandKeys({rules})`, `publisherPin({rule: rules.pin})`. */
export function discoveryRules({ facts }: Pick<Release, "facts">) {
  const { urlMatch, twice, brandBytes, webhooks, keyOrigins, pin } = facts.discovery;
  return {
    urlMatch: urlMatch.value,
    twice: twice.value,
    brandBytes: brandBytes.value,
    webhooks: webhooks.value,
    keyOrigins: keyOrigins.value,
    pin: pin.value,
  };
}
