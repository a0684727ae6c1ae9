/** What every area is made of. */
export type { Behaviour, Scenarios, ToolBehaviour } from "./behaviour.js";
export type { BehaviourCall, BehaviourReply, BehaviourSettings, BehaviourToolCall } from "./call.js";
