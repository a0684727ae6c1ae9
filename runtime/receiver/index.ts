/** Webhooks in: a fastify plugin, a listener for node's server, and the receiver itself for any other. */
export {
  type ConstructedEvent,
  type ConstructedTask,
  type ConstructOptions,
  constructEvent,
  WebhookRefused,
} from "./construct.js";
export { type EnvelopeCode, readEnvelope } from "./envelope.js";
export { type PluginOptions, webhookOptions, webhookReceiver } from "./fastify.js";
export type { ChangePage, FeedOptions, FeedRead } from "./feed.js";
export { nodeListener, nodeRequest } from "./node.js";
export {
  bindRelease,
  createReceiver,
  type Receiver,
  type ReceiverDescriptor,
  type ReceiverOptions,
} from "./receiver.js";
export type * from "./types.js";
export type { PolledTask, Watched, WatchOptions } from "./watch.js";
