/** The agent card: A2A 1.0, with the members 0.3 clients read beside them. */
import type { JsonObject } from "../contract/index.js";
import type { Settings } from "./settings.js";
import type { Spoken } from "./spoken.js";

/** Where 1.0 and 0.3 clients look, then where older ones do. */
export const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;

const MODES = ["application/json"];

/** @param path where the endpoint the card is of stands */
export function agentCard<Tx>(settings: Settings<Tx>, { tools, release }: Spoken<Tx>, path: string): JsonObject {
  const url = `${settings.baseUrl}${path}`;
  const names = [...new Map([...tools.values()].map((served) => [served.name, served.tool])).entries()];
  return {
    name: settings.name,
    description: settings.description,
    version: release.version,
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3", tenant: "" },
    ],
    url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    additionalInterfaces: [{ url, transport: "JSONRPC" }],
    capabilities: { streaming: false, pushNotifications: settings.sender !== undefined, extensions: [] },
    ...securityOf(settings),
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: names.map(([name, { protocol }]) => ({
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
const securityOf = ({ auth }: Settings<never>): JsonObject =>
  auth === undefined || (auth.challenge ?? "Bearer") !== "Bearer"
    ? {}
    : {
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" }, type: "http", scheme: "bearer" } },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        security: [{ bearer: [] }],
      };
