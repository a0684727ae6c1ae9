/** Every name of the runtime that emitted code uses, in one place. `satisfies` ties each to the contract. */
import type * as contract from "../../runtime/contract/index.js";

export const contractModule = "adbind/contract";

/** What precompiled validators import. */
export const standaloneModule = "adbind/standalone";

export const symbols = {
  answer: "Answer",
  dispatch: "dispatch",
  typedEvent: "TypedEvent",
  failure: "Failure",
  handlers: "Handlers",
  releaseFacts: "ReleaseFacts",
  schemaNode: "SchemaNode",
  tool: "Tool",
} as const satisfies Record<
  string,
  keyof typeof contract | "Answer" | "TypedEvent" | "Failure" | "Handlers" | "ReleaseFacts" | "SchemaNode" | "Tool"
>;

/** The names of `adbind/standalone`; a test compiles what is emitted with them. */
export const standaloneSymbols = {
  precompiled: "precompiled",
  toolNodes: "ToolNodes",
  validator: "Validator",
} as const;
