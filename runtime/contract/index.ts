/**
 * What generated code and the runtime agree on: one protocol release as plain data, and the few functions every binding
 * needs. The only room generated code imports, so it imports nothing.
 */
export { type Answer, dispatch, type Handlers, UnexpectedStatusError } from "./answer.js";
export type { EventBodyOf, Events, TypedEvent } from "./event.js";
export type {
  AnswerFields,
  CanonicalSlot,
  DiscoveryFacts,
  EnvelopeFacts,
  EventChannel,
  EventFacts,
  EventShape,
  Fact,
  FactTable,
  RecoveryFacts,
  ReleaseFacts,
  RequestFields,
  RequestProfileName,
  ResultFacts,
  ResultResolution,
  SigningFacts,
  SpecialismRole,
  ToolFacts,
  ToolRoute,
} from "./facts.js";
export { type Failure, failureOf, type ProtocolError } from "./failure.js";
export type { CallerTools, MaybePromise, Reply, SellerTools, ToolHandler } from "./handler.js";
export { extra, isJsonObject, type JsonObject } from "./json-object.js";
export {
  answerFields,
  isUnclear,
  readAnswer,
  readWebhookAnswer,
  STATUS_UNKNOWN,
  TASK_ID_MISSING,
  type TaskEnvelope,
  type TransportFacts,
} from "./read-answer.js";
export { type ErrorEntry, type ErrorTable, type Recovery, type RecoverySubject, recoveries } from "./recovery.js";
export type { Release } from "./release.js";
export { type SchemaDocuments, type SchemaRef, type SchemaSource, schemaUri } from "./schema.js";
export { keywordLetters, nullableLetter, type SchemaKeywords, type SchemaNode, typesByLetter } from "./schema-node.js";
export {
  type Specialism,
  type SpecialismCheck,
  type SpecialismTable,
  specialismChecks,
  toolsOfClaim,
} from "./specialism.js";
export {
  type InterimStatus,
  interimStatuses,
  isFailing,
  isInterim,
  isTaskStatus,
  isTerminal,
  type TaskStatus,
  type TerminalStatus,
  taskStatuses,
  terminalStatuses,
} from "./status.js";
export {
  type AnyArms,
  type AnyTool,
  type ArmsOf,
  answersLater,
  channelTools,
  type Idempotency,
  type Inborn,
  type RequestOf,
  type Tool,
  type Tools,
} from "./tool.js";
export { type TransportName, transportNames } from "./transport.js";
export { shortVersion, type WireNames, wireNames } from "./wire-names.js";
