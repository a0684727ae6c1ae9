/** What a release says about itself, as the rooms of the runtime ask it. */
export { discoveryRules } from "./discovery.js";
export { producerFault } from "./errors.js";
export {
  type CataloguedEvent,
  type EventCatalogue,
  eventCatalogue,
  eventIn,
  keysBindPayloads,
  kindNamed,
  operationRequired,
  refusesUnnamed,
  surfaceMember,
} from "./events.js";
export {
  missingInNotice,
  noticesOf,
  type RegisteredKind,
  type ResourceNotice,
  registeredEvents,
} from "./registered-events.js";
export { type EndpointSigning, endpointSigning, legacySigned, peerProfile } from "./signing.js";
export { signingRecovery } from "./signing-recovery.js";
