/** Calling agents: `adbind/buyer`. */
export { agentsFrom, type NamedAgent } from "./agents.js";
export { type Completions, createCompletions } from "./completions.js";
export type { AcceptanceOptions, GovernanceOptions, Governor } from "./consent.js";
export type { Buyer, NegotiationResult, TypedNegotiatedRelease } from "./create.js";
export type { Buyers, BuyersOptions, EachAnswer, EachOptions } from "./each.js";
export type { CapabilitiesOf } from "./features.js";
export type { Intent } from "./intent.js";
export { createBuyer, createBuyers } from "./node.js";
export { fileTokens } from "./oauth/file-tokens.js";
export type { Authorize, OAuthOptions, OAuthTokens, TokenStore } from "./oauth/types.js";
export type { Impaired, Reconciled, Reconciler, Resource } from "./reconcile.js";
export { type Credentials, createRotation, type Rotated, type Rotation, type RotationOptions } from "./rotate.js";
export type {
  Adapter,
  AgentRef,
  BuyerAuth,
  BuyerOptions,
  BuyerSigning,
  BuyerTools,
  CallOptions,
  CallRequest,
  CallResult,
  CompletionOptions,
  EndedEffect,
  IntentStore,
  InvalidMessage,
  LocalError,
  NegotiatedRelease,
  RespondOptions,
  RetryOptions,
  TaskEnd,
  ToolCall,
  TransportChoice,
} from "./types.js";
export type { BuyerWebhooks, TaskPoll, WebhookReceiver } from "./webhooks.js";
