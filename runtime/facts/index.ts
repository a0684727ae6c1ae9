/** What a release says about itself, as the rooms of the runtime ask it. */
export { type EndpointSigning, endpointSigning, legacySigned, peerProfile } from "./signing.js";
