/** Key discovery: where a sender's keys come from, and what says that they are no longer good. */
export { type AgentKeysOptions, agentKeys } from "./agent.js";
export { type BrandKeysOptions, type BrandRules, brandKeys, type DeclaredIdentity } from "./brand.js";
export { askIdentity, type CapabilitiesOptions, declaredIdentity } from "./capabilities.js";
export { type RemoteJwksOptions, remoteJwks } from "./jwks.js";
export { createDiscoveryCache, type DiscoveryCache, type DiscoveryOptions } from "./options.js";
export { type PublisherPinOptions, publisherPin } from "./pin.js";
export { type RevocationListOptions, revocationBySender, revocationList } from "./revocation.js";
