/** Calling agents: `adbind/buyer`. */
export type { Agreeing, Buyer } from "./create.js";
export { createTaskEndings, type TaskEndings } from "./endings.js";
export { createBuyer } from "./node.js";
export type { Impaired, Reconciled, Reconciler, Resource } from "./reconcile.js";
export { type Credentials, createRotation, type Rotated, type Rotation, type RotationOptions } from "./rotate.js";
export type {
  AgentRef,
  Agreement,
  BuyerAuth,
  BuyerOptions,
  BuyerSigning,
  BuyerTools,
  BuyerWebhooks,
  Called,
  CallOptions,
  CallRequest,
  InvalidMessage,
  LocalError,
  PolledTask,
  RetryOptions,
  SettleOptions,
  ToolCall,
  TransportChoice,
  WebhookReceiver,
} from "./types.js";
