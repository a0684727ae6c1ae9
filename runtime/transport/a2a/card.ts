/** The agent card: A2A 1.0, with the members 0.3 clients read beside them. */
import type { JsonObject } from "../../contract/index.js";
import type { AnswererDependencies } from "../answerer.js";

/** Where 1.0 and 0.3 clients look, then where older ones do. */
export const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;

const MODES = ["application/json"];

export function agentCard(parts: AnswererDependencies): JsonObject {
  const { url } = parts;
  return {
    name: parts.name,
    description: parts.description,
    version: parts.version,
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3", tenant: "" },
    ],
    url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    additionalInterfaces: [{ url, transport: "JSONRPC" }],
    capabilities: { streaming: false, pushNotifications: parts.tasks.push !== undefined, extensions: [] },
    ...securityOf(parts),
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: parts.tools.map(({ name, tool: { protocol } }) => ({
      id: name,
      name,
      description: `${protocol}: ${name.replaceAll("_", " ")}`,
      tags: [protocol],
      examples: [],
      inputModes: MODES,
      outputModes: MODES,
      securityRequirements: [],
    })),
  };
}

/** Both generations' ways to say that a Bearer token is wanted. */
const securityOf = ({ bearer }: AnswererDependencies): JsonObject =>
  bearer
    ? {
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" }, type: "http", scheme: "bearer" } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        security: [{ bearer: [] }],
      }
    : {};
