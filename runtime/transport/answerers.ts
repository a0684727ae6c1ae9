/** Every transport that an agent answers over. */
import type { TransportName } from "../contract/index.js";
import { a2aAnswerer } from "./a2a/answer.js";
import type { Answerer, AnswererDependencies } from "./answerer.js";
import { mcpAnswerer } from "./mcp/answer.js";

export const answerers: Readonly<Record<TransportName, (dependencies: AnswererDependencies) => Answerer>> = {
  mcp: mcpAnswerer,
  a2a: a2aAnswerer,
};
