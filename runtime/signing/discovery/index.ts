/** Key discovery: where a sender's keys come from, and what says that they are no longer good. */
export { type BrandKeysOptions, type BrandRules, brandKeys } from "./brand.js";
export { type RemoteJwksOptions, remoteJwks } from "./jwks.js";
export { createDiscoveryCache, type DiscoveryCache, type DiscoveryOptions } from "./options.js";
export { type PublisherPinOptions, publisherPin } from "./pin.js";
export { type RevocationListOptions, revocationBySender, revocationList } from "./revocation.js";
