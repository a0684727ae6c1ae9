/** `adbind/behaviours`: what sellers do, with ports for what is theirs. */

export { behaviours } from "./areas.js";
export type { Assembled } from "./assembled.js";
export { type EnvironmentSettings, fromEnvironment, type SellerEnvironment } from "./environment.js";
export type { Behaviour, BehaviourCall, BehaviourReply, BehaviourToolCall } from "./frame/index.js";
export type { OrderDecision } from "./media-buys/decide.js";
export { openSeller } from "./open.js";
export type { BehavingSellerOptions, ToolHandlers } from "./options.js";
export * from "./ports/index.js";
