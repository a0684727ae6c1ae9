/** The agent card: A2A 1.0, with the members 0.3 clients read beside them. */
import type { JsonObject } from "../../contract/index.js";
import type { A2aProfile, AnswererDependencies } from "../answerer.js";

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
    capabilities: {
      streaming: true,
      pushNotifications: parts.tasks.push !== undefined,
      extensions: parts.profile === undefined ? [] : [extensionOf(parts.profile)],
    },
    ...securityOf(parts),
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: parts.tools.map(({ name, tool: { protocol, summary } }) => ({
      id: name,
      name,
      description: summary ?? `${protocol}: ${name.replaceAll("_", " ")}`,
      tags: [protocol],
      examples: [],
      inputModes: MODES,
      outputModes: MODES,
      securityRequirements: [],
    })),
  };
}

const extensionOf = ({ uri, required = false }: A2aProfile): JsonObject => ({
  ...{ uri, required, description: "One data part {skill, input}; answers are artifacts, whatever their status." },
});

/** Both generations' ways to say that a Bearer token is wanted. */
const securityOf = ({ bearer }: AnswererDependencies): JsonObject =>
  bearer
    ? {
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" }, type: "http", scheme: "bearer" } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        security: [{ bearer: [] }],
      }
    : {};
